#pragma once

// Finds matching messages, newest first.

#include <map>
#include <span>
#include <vector>

#include "search/index_file.h"  // IWYU pragma: export
#include "search/terms.h"       // IWYU pragma: export

namespace reprise::search {

// A position in the order of hits: newest first, then by most recently indexed.
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
  std::string counts = {};  // per phrase, one byte each; if requested
  // For stores that index words themselves:
  std::size_t store = 0;  // the store's number from 1; 0 for the index
  std::string id = {};    // the session's id
  std::string place = {};
  bool is_certain = true;  // false: check the text
};

// A session's row.
struct IndexedSession {
  std::int64_t source = 0;
  std::string id;
  bool has_unique_short_id = false;  // in its source; may be false after another was removed
};

class Finder {
 public:
  struct Query {
    std::vector<std::int64_t> sources;  // rows
    std::vector<Phrase> phrases;
    std::optional<SearchPart> only = std::nullopt;
    std::vector<std::vector<std::string>> tokens = {};  // see match_expression()
    std::optional<std::int64_t> since_ms = std::nullopt;
    std::optional<std::int64_t> until_ms = std::nullopt;  // exclusive
    bool with_counts = false;
  };
  // `db` must outlive this.
  Finder(sqlite::Connection& db, Query query) : db_(db), query_(std::move(query)) {}

  // At most `limit` candidates after `before`, in the order of keys.
  Result<std::vector<Candidate>> newest(std::size_t limit, const std::optional<HitKey>& before);

  // The estimated fraction of messages that match the expression, sampled from the newest.
  Result<double> density(std::string_view expression);

  const IndexedSession& session(std::int64_t key) const;  // of a candidate

 private:
  struct Run {
    std::int64_t shard;
    std::int64_t first;
    std::int64_t last;
    std::int64_t oldest_ms;
    std::int64_t newest_ms;
    std::int64_t slack_ms;
  };
  struct TopCandidates;
  struct Columns;  // of a row

  Result<std::span<const Run>> runs();  // those with the newest messages first
  Result<> search_run(const Run& run, TopCandidates& top);
  Result<const std::string*> expression_for(std::int64_t shard);
  Result<std::vector<std::string>> completions(std::int64_t shard, const std::string& prefix);
  Result<std::int64_t> last_not_after(const Run& run, std::int64_t time_ms);
  Result<bool> take(const Run& run, const sqlite::Statement& row, const Columns& columns,
                    TopCandidates& top);

  sqlite::Connection& db_;
  Query query_;
  std::optional<std::vector<Run>> runs_;  // nullopt: not loaded yet
  std::map<std::int64_t, IndexedSession> sessions_;
  std::map<std::int64_t, std::string> expressions_;  // of FTS5, for each shard
};

}  // namespace reprise::search
