#pragma once

// Brings the index to where a source is now.

#include "search/batch.h"
#include "search/session_list.h"

namespace reprise::search {

// The row of a source; 0 when there is none.
Result<std::int64_t> find_source(sqlite::Connection& db, std::string_view url);

// Whether the source is as it was when all of it was indexed, as far as it can tell.
Result<bool> is_unchanged(sqlite::Connection& db, const SearchSource& source);

class CatchUp {
 public:
  // All of them outlive it; the lock is held.
  CatchUp(IndexFile& index, const SearchSource& source, const SearchIndexOptions& options)
      : index_(index), source_(*source.source), url_(source.url), options_(options) {}

  // False when it was stopped.
  Result<bool> run();
  // Whether its error is one of the source, not of the index.
  bool has_source_failed() const {
    return source_failed_ || (sessions_ && sessions_->has_source_failed());
  }

 private:
  struct Task {
    const Listed* session;
    Row row;
  };

  Batch& batch();
  SessionList& sessions();
  Result<> find_or_add_source();
  Result<SessionChanges> changes();
  Result<> load_all();
  Result<bool> has_pending();
  Result<> plan();
  Result<> plan_one(const Listed& session);
  Result<> index_pending();
  Result<> index_sessions();
  Result<> index_one(Task& task);
  // False: what stood before `row.next` stands there no more.
  Result<bool> read_on(const Task& task);
  Result<> add_session(const Listed& session, std::int64_t first);
  Result<> begin_again(Task& task);
  Flow take(const Task& task, Message&& message);
  bool tell_progress();
  Result<> pass_unreadable(const Result<ReadReport>& read);

  IndexFile& index_;
  Source& source_;
  std::string url_;
  const SearchIndexOptions& options_;
  std::int64_t source_row_ = 0;
  std::string position_;                 // see ChangeReader
  std::optional<Batch> batch_;           // once the source has a row
  std::optional<SessionList> sessions_;  // likewise
  std::vector<Task> tasks_;
  Time last_time_ = {};
  std::int64_t done_ = 0;
  std::int64_t total_ = 0;
  bool stopped_ = false;
  bool source_failed_ = false;
  Result<> failure_;  // of a batch that was written while a session was read
};

}  // namespace reprise::search
