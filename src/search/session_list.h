#pragma once

// The sessions of a source: their current and their indexed state.

#include <deque>
#include <set>
#include <unordered_map>

#include "reprise/capabilities.h"
#include "search/index_file.h"

namespace reprise::search {

// A session as listed by its source.
struct Listed {
  SessionId id;
  Seq head;
  bool is_head_known;
  Time created_at;
  Time updated_at;
  std::int64_t folder;  // a hash
  std::string folder_token;
  bool hidden;
  std::int64_t revision;  // a hash
  std::optional<ForkOrigin> forked_from;
};

// Its indexed state.
struct Row {
  std::int64_t key = 0;
  std::int64_t head = -1;
  std::int64_t updated_us = 0;
  std::int64_t first = 0;
  std::int64_t next = 0;
  std::int64_t tail = 0;
  std::int64_t fingerprint = 0;
  std::int64_t folder = 0;
  bool hidden = false;
  std::int64_t revision = 0;
};

class SessionList {
 public:
  // Both must outlive this. `source_row` is the source's row.
  SessionList(sqlite::Connection& db, Source& source, std::int64_t source_row)
      : db_(db), source_(source), source_row_(source_row) {}

  // Loads all sessions, with their branches unless the session has not changed; or the changed ones
  // and those affected by the changes.
  Result<> load_all();
  Result<> load_changed(const SessionChanges& changes);
  // Rows of deleted sessions, after load_all().
  Result<std::vector<std::int64_t>> deleted();

  // Adds a session that is not listed yet, unless it was deleted.
  Result<> load(const SessionId& id);

  const std::deque<Listed>& listed() const { return listed_; }
  const Listed* find(const std::string& id) const;  // null if it was not loaded
  const Row* row(const SessionId& id) const;        // null if it is not indexed
  // The first message that is indexed for this session, and not for its origin.
  Seq first_of_own(const Listed& session) const;

  // Sessions that the source could not list, or that could not be found.
  const std::vector<Damage>& damage() const { return damage_; }

 private:
  Result<> add_all(SessionQuery query);
  Result<> load_branches();
  Result<> load_rows();
  Result<> load_row(const SessionId& id);
  Result<> load_trash(const std::vector<SessionId>& trashed);
  Result<> load_forks(const Listed& origin);
  Result<> load_origins();
  Result<std::vector<SessionId>> ids(std::string_view sql, std::string_view value);
  void add(const SessionInfo& info);

  sqlite::Connection& db_;
  Source& source_;
  std::int64_t source_row_;
  std::deque<Listed> listed_;
  std::deque<Listed> origins_;  // that are not listed themselves
  std::unordered_map<std::string, const Listed*> by_id_;
  std::unordered_map<std::string, Row> rows_;
  std::set<std::string, std::less<>> with_same_branches_;  // sessions; not listed
  std::vector<Damage> damage_;
};

}  // namespace reprise::search
