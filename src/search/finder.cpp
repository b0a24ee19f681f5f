#include "search/finder.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/text.h"
#include "reprise/error.h"
#include "reprise/types.h"
#include "store/column_names.h"

namespace reprise::search {
namespace {

constexpr std::string_view kMissing = "a message is missing";

}  // namespace

struct Finder::Columns {
  store::Column id;
  store::Column session;
  store::Column seq;
  store::Column time_ms;
  store::Column bytes;
  store::Column source;
  store::Column session_id;
  store::Column hidden;
  store::Column has_unique_short_id;
};

// The first candidates in the order of keys, as a heap with the last one on top.
struct Finder::TopCandidates {
  std::size_t limit;
  std::optional<HitKey> before;
  std::vector<Candidate> heap = {};

  static bool is_newer(const Candidate& a, const Candidate& b) { return a.key > b.key; }
  bool is_full() const { return heap.size() >= limit; }
  // Whether a candidate of that time can be among them.
  bool may_take(std::int64_t time_ms) const {
    return !is_full() || time_ms >= heap.front().key.time_ms;
  }
  void add(Candidate candidate) {
    if (is_full()) {
      if (heap.front().key > candidate.key) {
        return;
      }
      std::ranges::pop_heap(heap, is_newer);
      heap.pop_back();
    }
    heap.push_back(std::move(candidate));
    std::ranges::push_heap(heap, is_newer);
  }
};

Result<std::vector<Candidate>> Finder::newest(std::size_t limit,
                                              const std::optional<HitKey>& before) {
  REPRISE_ASSIGN(const std::span<const Run> all_runs, runs());
  TopCandidates top{limit, before};
  for (const Run& run : all_runs) {
    if (!top.may_take(run.newest_ms) || (query_.since_ms && run.newest_ms < *query_.since_ms)) {
      break;
    }
    if ((query_.until_ms && run.oldest_ms >= *query_.until_ms) ||
        (before && run.oldest_ms > before->time_ms)) {
      continue;
    }
    REPRISE_TRY(search_run(run, top));
  }
  std::ranges::sort(top.heap, TopCandidates::is_newer);
  return std::move(top.heap);
}

Result<std::span<const Finder::Run>> Finder::runs() {
  if (runs_) {
    return *runs_;
  }
  std::vector<Run> all_runs;
  for (const std::int64_t source : query_.sources) {
    REPRISE_ASSIGN(
        auto rows,
        db_.query("SELECT r.shard AS shard, r.first AS first, r.last AS last,"
                  " r.oldest_ms AS oldest_ms, r.newest_ms AS newest_ms,"
                  " r.slack_ms AS slack_ms"
                  " FROM shards AS s JOIN runs AS r ON r.shard = s.id WHERE s.source = ?",
                  source));
    REPRISE_TRY(rows.each([&] {
      all_runs.push_back({rows.integer("shard"), rows.integer("first"), rows.integer("last"),
                          rows.integer("oldest_ms"), rows.integer("newest_ms"),
                          rows.integer("slack_ms")});
    }));
  }
  std::ranges::sort(all_runs, std::greater{}, &Run::newest_ms);
  return runs_.emplace(std::move(all_runs));
}

Result<> Finder::search_run(const Run& run, TopCandidates& top) {
  std::int64_t last = run.last;
  std::optional<std::int64_t> newest =
      top.before ? std::optional(top.before->time_ms) : std::nullopt;
  if (query_.until_ms) {
    newest = std::min(newest.value_or(*query_.until_ms - 1), *query_.until_ms - 1);
  }
  if (newest && *newest < run.newest_ms) {
    REPRISE_ASSIGN(last, last_not_after(run, *newest));
  }
  REPRISE_ASSIGN(const std::string* const expression, expression_for(run.shard));
  const std::string table = words_table(run.shard);
  const std::string counts =
      query_.with_counts ? cat(", reprise_counts(", table, ") AS counts") : "";
  REPRISE_ASSIGN(
      auto rows,
      db_.query(
          cat("SELECT d.id AS id, d.session AS session, d.seq AS seq, d.time_ms AS time_ms,"
              " d.bytes AS bytes, s.source AS source, s.id AS session_id, s.hidden AS hidden,"
              " s.has_unique_short_id AS has_unique_short_id",
              counts, " FROM ", table, " LEFT JOIN docs AS d ON d.id = ? + ", table,
              ".rowid LEFT JOIN sessions AS s ON s.key = d.session WHERE ", table, " MATCH ? AND ",
              table, ".rowid BETWEEN ? AND ? ORDER BY ", table, ".rowid DESC"),
          document_id(run.shard, 0), *expression, run.first, last));
  const Columns columns{.id = rows.column("id"),
                        .session = rows.column("session"),
                        .seq = rows.column("seq"),
                        .time_ms = rows.column("time_ms"),
                        .bytes = rows.column("bytes"),
                        .source = rows.column("source"),
                        .session_id = rows.column("session_id"),
                        .hidden = rows.column("hidden"),
                        .has_unique_short_id = rows.column("has_unique_short_id")};
  while (true) {
    REPRISE_ASSIGN(const bool row, rows.step());
    if (!row) {
      return {};
    }
    REPRISE_ASSIGN(const bool has_more, take(run, rows, columns, top));
    if (!has_more) {
      return {};
    }
  }
}

// FTS5 would read all occurrences of all words with a prefix before it returns the first row, so
// the words themselves are searched; and it would read repeated phrases repeatedly. Counts are
// those of each phrase.
Result<const std::string*> Finder::expression_for(std::int64_t shard) {
  if (const auto found = expressions_.find(shard); found != expressions_.end()) {
    return &found->second;
  }
  std::vector<Phrase> phrases;
  for (const Phrase& phrase : query_.phrases) {
    if (query_.with_counts || std::ranges::find(phrases, phrase) == phrases.end()) {
      phrases.push_back(phrase);
    }
  }
  for (Phrase& phrase : phrases) {
    if (phrase.prefix && phrase.words.size() == 1 && !query_.with_counts) {
      REPRISE_ASSIGN(phrase.completions, completions(shard, phrase.words.front()));
    }
  }
  return &expressions_.emplace(shard, match_expression(phrases, query_.only, query_.tokens))
              .first->second;
}

// Empty if there are too many. The table has a row for each occurrence: after kOccurrencesMax rows
// of a word, the query is repeated for the words after it.
Result<std::vector<std::string>> Finder::completions(std::int64_t shard,
                                                     const std::string& prefix) {
  constexpr std::size_t kWordsMax = 64;
  constexpr int kOccurrencesMax = 8;
  const std::string sql =
      cat("SELECT term FROM ", vocabulary_table(shard), " WHERE term >= ? AND term < ?");
  const std::string end = prefix + "\U0010FFFF";
  std::vector<std::string> words;
  std::string begin = prefix;
  for (bool is_at_end = false; !is_at_end;) {
    REPRISE_ASSIGN(auto rows, db_.query(sql, begin, end));
    const store::Column term = rows.column("term");
    for (int occurrences = 1; occurrences <= kOccurrencesMax;) {
      REPRISE_ASSIGN(const bool row, rows.step());
      if (!row) {
        is_at_end = true;
        break;
      }
      if (const std::string_view word = rows.bytes(term); words.empty() || word != words.back()) {
        if (words.size() == kWordsMax) {
          return std::vector<std::string>();
        }
        words.emplace_back(word);
        occurrences = 0;
      }
      ++occurrences;
    }
    begin = words.empty() ? end : words.back() + '\x01';
  }
  return words;
}

// Binary search for a row such that all later rows are too new. Rows within the run's slack are
// checked individually.
Result<std::int64_t> Finder::last_not_after(const Run& run, std::int64_t time_ms) {
  std::int64_t low = run.first;
  std::int64_t high = run.last;
  while (low <= high) {
    const std::int64_t middle = low + (high - low) / 2;
    REPRISE_ASSIGN(auto doc, db_.query("SELECT time_ms FROM docs WHERE id = ?",
                                       document_id(run.shard, middle)));
    REPRISE_ASSIGN(const bool has_doc, doc.step());
    if (!has_doc) {
      return db_.wrong_content(kMissing);
    }
    if (doc.integer("time_ms") > time_ms + run.slack_ms) {
      high = middle - 1;
    } else {
      low = middle + 1;
    }
  }
  return high;
}

// False if no earlier row in the run can be among the top candidates.
Result<bool> Finder::take(const Run& run, const sqlite::Statement& row, const Columns& columns,
                          TopCandidates& top) {
  if (row.is_null(columns.id)) {
    return db_.wrong_content(kMissing);
  }
  const std::int64_t time = row.integer(columns.time_ms);
  const std::int64_t newest_left = time + run.slack_ms;
  if (!top.may_take(newest_left) || (query_.since_ms && newest_left < *query_.since_ms)) {
    return false;
  }
  Candidate candidate{.key = {time, row.integer(columns.id)},
                      .session = row.integer(columns.session),
                      .seq = Seq{row.integer(columns.seq)},
                      .bytes = row.integer(columns.bytes)};
  const bool is_alive = candidate.seq >= Seq{0};
  const bool is_in_range = (!top.before || candidate.key < *top.before) &&
                           (!query_.since_ms || time >= *query_.since_ms) &&
                           (!query_.until_ms || time < *query_.until_ms);
  if (!is_alive || !is_in_range || !top.may_take(time)) {
    return true;
  }
  if (row.is_null(columns.source)) {
    return db_.wrong_content("a message's session is missing");
  }
  if (row.integer(columns.hidden) != 0) {
    return true;
  }
  if (const auto [session, is_new] = sessions_.try_emplace(candidate.session); is_new) {
    IndexedSession& indexed = session->second;
    indexed.source = row.integer(columns.source);
    row.text(columns.session_id, indexed.id);
    indexed.has_unique_short_id = row.integer(columns.has_unique_short_id) != 0;
  }
  if (query_.with_counts) {
    candidate.counts = row.bytes("counts");
  }
  top.add(std::move(candidate));
  return true;
}

Result<double> Finder::density(std::string_view expression) {
  constexpr std::int64_t kSample = 500;
  REPRISE_ASSIGN(const std::span<const Run> all_runs, runs());
  if (all_runs.empty()) {
    return 0;
  }
  const Run& run =
      *std::ranges::max_element(all_runs, {}, [](const Run& r) { return r.last - r.first; });
  const std::string table = words_table(run.shard);
  REPRISE_ASSIGN(auto rows, db_.query(cat("SELECT rowid AS row FROM ", table, " WHERE ", table,
                                          " MATCH ? AND rowid BETWEEN ? AND ?"
                                          " ORDER BY rowid DESC LIMIT ?"),
                                      expression, run.first, run.last, kSample));
  std::int64_t count = 0;
  std::int64_t last = run.last;
  REPRISE_TRY(rows.each([&] {
    ++count;
    last = rows.integer("row");
  }));
  const std::int64_t sampled_rows = run.last - (count < kSample ? run.first : last) + 1;
  return static_cast<double>(count) / static_cast<double>(std::max<std::int64_t>(sampled_rows, 1));
}

const IndexedSession& Finder::session(std::int64_t key) const {
  return sessions_.at(key);
}

}  // namespace reprise::search
