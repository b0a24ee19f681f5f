#pragma once

// Which messages match, the newest first.

#include <map>
#include <span>
#include <vector>

#include "search/index_file.h"
#include "search/terms.h"

namespace reprise::search {

// A place in the order of hits: the newest first, among equals what was indexed last.
struct HitKey {
  std::int64_t time_ms = 0;
  std::int64_t document = 0;
  friend auto operator<=>(const HitKey&, const HitKey&) = default;
};

struct Candidate {
  HitKey key;
  std::int64_t session = 0;  // the key of its row
  Seq seq;
  std::int64_t bytes = 0;
  std::string counts = {};  // of each phrase, a byte; when they were asked for
  // Of a store that indexes words itself:
  std::size_t store = 0;  // which one, from 1 on; 0 for what is in the index
  std::string id = {};    // the session's
  std::string place = {};
  bool is_certain = true;  // false: the text tells
};

// A session's row.
struct IndexedSession {
  std::int64_t source = 0;
  std::string id;
  bool hidden = false;
};

class Finder {
 public:
  struct What {
    std::vector<std::int64_t> sources;  // rows
    std::string expression;             // of FTS5
    std::optional<std::int64_t> since_ms = std::nullopt;
    std::optional<std::int64_t> until_ms = std::nullopt;  // not included
    bool with_counts = false;
  };
  // `db` outlives it.
  Finder(sqlite::Connection& db, What what) : db_(db), what_(std::move(what)) {}

  // At most `limit`, those before `before` in the order of keys, in their order.
  Result<std::vector<Candidate>> newest(std::size_t limit, const std::optional<HitKey>& before);

  // About which part of the messages the expression matches, as the newest tell.
  Result<double> density(std::string_view expression);

  Result<const IndexedSession*> session(std::int64_t key);  // null when there is none

 private:
  struct Run {
    std::int64_t shard;
    std::int64_t first;
    std::int64_t last;
    std::int64_t oldest_ms;
    std::int64_t newest_ms;
    std::int64_t slack_ms;
  };
  struct Best;
  struct Columns;  // of a row

  Result<std::span<const Run>> runs();  // those with the newest messages first
  Result<> search_run(const Run& run, Best& best);
  Result<std::int64_t> last_not_after(const Run& run, std::int64_t time_ms);
  Result<bool> take(const Run& run, const sqlite::Statement& row, const Columns& columns,
                    Best& best);

  sqlite::Connection& db_;
  What what_;
  std::optional<std::vector<Run>> runs_;  // nullopt: not asked for yet
  std::map<std::int64_t, std::optional<IndexedSession>> sessions_;
};

}  // namespace reprise::search
