#pragma once

// The sessions of a source: as it has them now, and as they are indexed.

#include <deque>
#include <unordered_map>

#include "reprise/capabilities.h"
#include "search/index_file.h"

namespace reprise::search {

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
};

class SessionList {
 public:
  // Both outlive it. `source_row` is the source's row.
  SessionList(sqlite::Connection& db, Source& source, std::int64_t source_row)
      : db_(db), source_(source), source_row_(source_row) {}

  // Reads all of them, or those that changed and what else follows from that.
  Result<> load_all();
  Result<> load_changed(const SessionChanges& changes);
  // Rows of sessions that are gone, after load_all().
  Result<std::vector<std::int64_t>> gone();

  const std::deque<Listed>& listed() const { return listed_; }
  const Listed* find(const std::string& id) const;  // null when it was not loaded
  const Row* row(const SessionId& id) const;        // null when it is not indexed
  // Where the messages begin that the index has of this session, and not of its origin.
  Seq first_of_own(const Listed& session) const;

  // Whether its error is one of the source, not of the index.
  bool has_source_failed() const { return source_failed_; }

 private:
  Result<> load_rows();
  Result<> load_row(const SessionId& id);
  Result<> load(const SessionId& id);
  Result<> load_trash(const std::vector<SessionId>& trashed);
  Result<> load_forks(const Listed& origin);
  Result<> load_origins();
  Result<std::vector<SessionId>> ids(std::string_view sql, std::string_view value);
  void add(const SessionInfo& info);
  template <class T>
  Result<T> of_source(Result<T> result) {
    source_failed_ = source_failed_ || !result;
    return result;
  }

  sqlite::Connection& db_;
  Source& source_;
  std::int64_t source_row_;
  std::deque<Listed> listed_;
  std::deque<Listed> origins_;  // that are not listed themselves
  std::unordered_map<std::string, const Listed*> by_id_;
  std::unordered_map<std::string, Row> rows_;
  bool source_failed_ = false;
};

}  // namespace reprise::search
