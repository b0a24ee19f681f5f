#pragma once

// Brings the index to where a source is now.

#include <set>
#include <unordered_map>

#include "search/batch.h"

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
  bool has_source_failed() const { return source_failed_; }

 private:
  // A session as its source lists it.
  struct Listed {
    SessionId id;
    Seq head;
    Time created_at;
    Time updated_at;
    std::int64_t folder;  // a hash
    std::string folder_token;
    bool hidden;
    std::optional<ForkOrigin> forked_from;
  };
  // And as it is indexed.
  struct Row {
    std::int64_t key = 0;
    std::int64_t head = -1;
    std::int64_t updated_us = 0;
    std::int64_t first = 0;
    std::int64_t next = 0;
    std::int64_t fingerprint = 0;
    std::int64_t folder = 0;
    bool hidden = false;
    bool listed = false;
  };
  struct Task {
    const Listed* session;
    Row row;
  };

  Batch& batch();
  Result<> find_or_add_source();
  Result<> load_rows();
  Result<> list_sessions();
  Seq first_of_own(const Listed& session) const;
  Result<> plan();
  Result<> plan_one(const Listed& session);
  Result<> forget_gone();
  Result<> index_pending();
  Result<> index_sessions();
  Result<> index_one(Task& task);
  // False: what stood before `row.next` stands there no more.
  Result<bool> read_on(const Task& task);
  Result<> begin_again(Task& task);
  Flow take(const Task& task, Message&& message);
  bool tell_progress();
  template <class T>
  Result<T> of_source(Result<T> result) {
    source_failed_ = source_failed_ || !result;
    return result;
  }
  Result<> pass_unreadable(const Result<ReadReport>& read);

  IndexFile& index_;
  Source& source_;
  std::string url_;
  const SearchIndexOptions& options_;
  std::int64_t source_row_ = 0;
  std::optional<Batch> batch_;  // once the source has a row
  std::vector<Listed> listed_;
  std::unordered_map<std::string, const Listed*> by_id_;
  std::unordered_map<std::string, Row> rows_;
  std::vector<Task> tasks_;
  Time last_time_ = {};
  std::int64_t done_ = 0;
  std::int64_t total_ = 0;
  bool stopped_ = false;
  bool source_failed_ = false;
  Result<> failure_;  // of a batch that was written while a session was read
};

}  // namespace reprise::search
