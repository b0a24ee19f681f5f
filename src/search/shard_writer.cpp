#include "search/shard_writer.h"

#include <algorithm>

#include "base/assert.h"
#include "base/text.h"
#include "reprise/error.h"
#include "reprise/types.h"

namespace reprise::search {
namespace {

// A message that is older than the end of the last run by at most this continues the run, since
// messages of concurrent sessions are interleaved.
constexpr std::int64_t kSlackMs = 24LL * 3600 * 1000;
// With this many runs in a shard, messages of any age continue the last one.
constexpr std::int64_t kRunsMax = 8;
// Smaller batches contain what is new since the last search.
constexpr std::size_t kSmallBatch = 4096;
// Such a batch also merges some pages of segments, and more for more messages.
constexpr std::size_t kMergedPages = 16;
// This many segments of a level are merged into one, in steps as small as that. FTS5 would merge
// all of them at once if there were kSegmentsMax.
constexpr int kMergedSegments = 8;
constexpr int kSegmentsMax = 256;
// Larger batches are merged at the end, unless they are a smaller part of the shard than this.
constexpr std::int64_t kSmallPart = 8;
constexpr std::int64_t kStepPages = 1000;
// FTS5 buffers this many bytes of a transaction's words before it writes them.
constexpr std::int64_t kHashBytes = 64 << 20;

}  // namespace

Result<> ShardWriter::add_batch(std::span<const Entry> entries) {
  REPRISE_TRY(find_last_shard());
  run_.reset();
  placed_.clear();
  for (const Entry& entry : entries) {
    if (shard_ == 0 || docs_ >= kDocsMax) {
      REPRISE_TRY(save());
      REPRISE_TRY(begin_shard());
    }
    if (!run_) {
      REPRISE_TRY(begin_run(entry.time_ms));
    }
    REPRISE_TRY(add(entry));
  }
  REPRISE_TRY(save());
  return merge_segments(entries.size());
}

Result<> ShardWriter::find_last_shard() {
  REPRISE_ASSIGN(
      auto last,
      db_.query("SELECT id, docs FROM shards WHERE source = ? ORDER BY id DESC LIMIT 1", source_));
  REPRISE_ASSIGN(const bool found, last.step());
  shard_ = found ? last.integer("id") : 0;
  docs_ = found ? last.integer("docs") : 0;
  insert_ = cat("INSERT INTO ", words_table(shard_), "(rowid, text, thinking, tools)",
                " VALUES(?, ?, ?, ?)");
  return {};
}

// merge_segments() merges instead: large batches need no merging.
Result<> ShardWriter::begin_shard() {
  REPRISE_TRY(db_.run("INSERT INTO shards(source, docs, dead) VALUES(?, 0, 0)", source_));
  REPRISE_ASSIGN(shard_, db_.integer("SELECT last_insert_rowid()"));
  docs_ = 0;
  unmerged_ = 0;
  const std::string table = words_table(shard_);
  REPRISE_TRY(db_.script(
      cat("CREATE VIRTUAL TABLE ", table,
          " USING fts5(text, thinking, tools, content='', columnsize=0, tokenize='reprise');",
          "CREATE VIRTUAL TABLE ", vocabulary_table(shard_), " USING fts5vocab(", table,
          ", instance);",                                                        //
          "INSERT INTO ", table, "(", table, ", rank) VALUES('automerge', 0);",  //
          "INSERT INTO ", table, "(", table, ", rank) VALUES('usermerge', ", kMergedSegments, ");",
          "INSERT INTO ", table, "(", table, ", rank) VALUES('crisismerge', ", kSegmentsMax, ");",
          "INSERT INTO ", table, "(", table, ", rank) VALUES('hashsize', ", kHashBytes, ");")));
  insert_ = cat("INSERT INTO ", table, "(rowid, text, thinking, tools) VALUES(?, ?, ?, ?)");
  run_.reset();
  placed_.clear();
  return {};
}

Result<> ShardWriter::begin_run(std::int64_t time_ms) {
  REPRISE_ASSIGN(const std::int64_t count,
                 db_.integer("SELECT count(*) FROM runs WHERE shard = ?", shard_));
  REPRISE_ASSIGN(
      auto last,
      db_.query("SELECT first, last, oldest_ms, newest_ms, slack_ms FROM runs WHERE shard = ?"
                " ORDER BY first DESC LIMIT 1",
                shard_));
  REPRISE_ASSIGN(const bool found, last.step());
  if (found && (time_ms + kSlackMs >= last.integer("newest_ms") || count >= kRunsMax)) {
    run_ = Run{last.integer("first"), last.integer("last"), last.integer("oldest_ms"),
               last.integer("newest_ms"), last.integer("slack_ms")};
    run_->slack_ms = std::max(run_->slack_ms, run_->newest_ms - time_ms);
    run_->oldest_ms = std::min(run_->oldest_ms, time_ms);
  } else {
    run_ = Run{docs_ + 1, docs_, time_ms, time_ms, 0};
  }
  return {};
}

Result<> ShardWriter::add(const Entry& entry) {
  const auto& [text, thinking, tools] = entry.texts.parts;
  ++docs_;
  const std::string first = entry.attributes + text;
  REPRISE_TRY(db_.run(insert_, docs_, first, thinking, tools));
  REPRISE_TRY(db_.run("INSERT INTO docs(id, session, seq, time_ms, bytes) VALUES(?, ?, ?, ?, ?)",
                      document_id(shard_, docs_), entry.session, entry.seq.value, entry.time_ms,
                      static_cast<std::int64_t>(entry.texts.bytes())));
  if (placed_.insert(entry.session).second) {
    REPRISE_TRY(db_.run("INSERT OR IGNORE INTO placed(session, shard) VALUES(?, ?)", entry.session,
                        shard_));
  }
  REPRISE_ASSERT(run_);
  Run& run = *run_;
  run.last = docs_;
  run.newest_ms = std::max(run.newest_ms, entry.time_ms);
  return {};
}

Result<> ShardWriter::save() {
  if (!run_) {
    return {};
  }
  REPRISE_TRY(db_.run("UPDATE shards SET docs = ? WHERE id = ?", docs_, shard_));
  return db_.run(
      "INSERT OR REPLACE INTO runs(shard, first, last, oldest_ms, newest_ms, slack_ms)"
      " VALUES(?, ?, ?, ?, ?, ?)",
      shard_, run_->first, run_->last, run_->oldest_ms, run_->newest_ms, run_->slack_ms);
}

// Each commit adds a segment to the FTS5 table, and queries read all segments.
Result<> ShardWriter::merge_segments(std::size_t added) {
  if (added > kSmallBatch) {
    unmerged_ += static_cast<std::int64_t>(added);
    return {};
  }
  return added == 0 ? Result<>() : merge(static_cast<std::int64_t>(kMergedPages + added));
}

// Otherwise the following small batches would merge large segments with their small ones.
Result<bool> ShardWriter::merge_large() {
  if (unmerged_ * kSmallPart <= docs_) {
    return false;
  }
  REPRISE_ASSIGN(const std::int64_t before, db_.integer("SELECT total_changes()"));
  REPRISE_TRY(merge(std::exchange(is_merging_, true) ? kStepPages : -kStepPages));
  REPRISE_ASSIGN(const std::int64_t after, db_.integer("SELECT total_changes()"));
  is_merging_ = after - before > 1;  // more than the command itself
  return is_merging_;
}

// A negative number merges all segments, whatever their levels.
Result<> ShardWriter::merge(std::int64_t pages) {
  const std::string table = words_table(shard_);
  return db_.run(cat("INSERT INTO ", table, "(", table, ", rank) VALUES('merge', ?)"), pages);
}

}  // namespace reprise::search
