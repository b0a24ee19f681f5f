#include "search/batch.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/assert.h"
#include "reprise/error.h"
#include "search/shard_writer.h"
#include "store/sqlite/connection.h"

namespace reprise::search {
namespace {

constexpr int kLogPagesMax = 1000;  // then they are checkpointed

}  // namespace

void Batch::add(Entry entry, const Tail& tail) {
  if (!entries_.empty() && entries_.back().session != entry.session) {
    note_reached();
  }
  bytes_ += entry.texts.bytes() + sizeof(Entry) + entry.attributes.size();
  tail_ = tail;
  entries_.push_back(std::move(entry));
}

// Records how far the last entry's session is indexed.
void Batch::note_reached() {
  if (entries_.empty()) {
    return;
  }
  const Entry& last = entries_.back();
  if (pending_last_) {
    reached_pending_[{last.session, *pending_last_}] = last.seq.next();
    return;
  }
  reached_[last.session] = {last.seq.next().value, tail_};
}

void Batch::set_pending(std::optional<Seq> last) {
  note_reached();
  pending_last_ = last;
}

void Batch::finish_pending(std::int64_t session) {
  REPRISE_ASSERT(pending_last_);
  const Seq last = *pending_last_;
  reached_pending_[{session, last}] = last.next();
}

Result<> Batch::write() {
  note_reached();
  if (entries_.empty() && finished_.empty() && reached_pending_.empty()) {
    return {};
  }
  std::ranges::stable_sort(entries_, {}, &Entry::time_ms);
  REPRISE_ASSIGN(auto transaction, sqlite::Transaction::begin(index_.db()));
  REPRISE_TRY(writer_.add_batch(entries_));
  REPRISE_TRY(write_progress());
  REPRISE_TRY(transaction.commit());
  entries_.clear();
  bytes_ = 0;
  reached_.clear();
  finished_.clear();
  reached_pending_.clear();
  return checkpoint_if_long();
}

Result<> Batch::checkpoint_if_long() {
  return index_.db().wal_pages() > kLogPagesMax ? index_.checkpoint() : Result<>();
}

Result<> Batch::write_last() {
  REPRISE_TRY(merge_large());
  REPRISE_TRY(write());
  return merge_large();
}

Result<> Batch::merge_large() {
  while (true) {
    REPRISE_ASSIGN(const bool has_more, writer_.merge_large());
    if (!has_more) {
      return {};
    }
    REPRISE_TRY(checkpoint_if_long());
  }
}

Result<> Batch::write_progress() {
  sqlite::Connection& db = index_.db();
  for (const auto& [session, reached] : reached_) {
    REPRISE_TRY(db.run("UPDATE sessions SET next = ?, tail = ?, fingerprint = ? WHERE key = ?",
                       reached.next, reached.tail.first.value_or(Seq{}).value,
                       reached.tail.fingerprint, session));
  }
  for (const Finished& done : finished_) {
    REPRISE_TRY(db.run("UPDATE sessions SET head = ?, updated_us = ?, revision = ? WHERE key = ?",
                       done.head.value, done.updated_at.time_since_epoch().count(), done.revision,
                       done.session));
  }
  for (const auto& [range, next] : reached_pending_) {
    const auto& [session, last] = range;
    REPRISE_TRY(next > last ? db.run("DELETE FROM pending WHERE session = ? AND last = ?", session,
                                     last.value)
                            : db.run("UPDATE pending SET first = ? WHERE session = ? AND last = ?",
                                     next.value, session, last.value));
  }
  return {};
}

}  // namespace reprise::search
