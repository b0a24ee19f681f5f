// Searches the index of words in the server.

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "reprise/capabilities.h"
#include "store/postgres/connection.h"
#include "store/postgres/database.h"
#include "store/postgres/postgres_store.h"
#include "store/postgres/rows.h"
#include "store/postgres/statements.h"
#include "store/postgres/values.h"
#include "store/postgres/words.h"

namespace reprise::postgres {
namespace {

constexpr std::int64_t kWordsWindow = 1000;    // every search checks these first
constexpr std::int64_t kFewMessages = 20'000;  // in a folder with fewer messages, all are checked

// Runs the queries in a transaction without JIT compilation.
Result<std::vector<Rows>> run_uncompiled(Connection& connection, std::vector<Query> queries) {
  queries.insert(queries.begin(), {Query{kBegin}, Query{kDoNotCompile}});
  queries.push_back({kCommit});
  REPRISE_ASSIGN(auto rows, connection.run(queries));
  rows.erase(rows.begin(), rows.begin() + 2);
  rows.pop_back();
  return rows;
}

struct Cursor {
  std::int64_t time_us = 0;
  std::int64_t branch = 0;
  std::int64_t seq = 0;
  std::string session = {};
};

std::string cursor_text(const Cursor& cursor) {
  return cat(cursor.time_us, ".", cursor.branch, ".", cursor.seq, ".", cursor.session);
}

Result<Cursor> parse_cursor(std::string_view text) {
  Cursor cursor;
  std::string_view remaining = text;
  for (std::int64_t* const number : {&cursor.time_us, &cursor.branch, &cursor.seq}) {
    const auto [end, error] =
        std::from_chars(remaining.data(), remaining.data() + remaining.size(), *number);
    remaining.remove_prefix(static_cast<std::size_t>(end - remaining.data()));
    if (error != std::errc() || !remaining.starts_with('.')) {
      return fail(Code::invalid_argument, cat("'", text, "' is not a cursor of this search"));
    }
    remaining.remove_prefix(1);
  }
  REPRISE_ASSIGN(const SessionId session, SessionId::parse(remaining));
  cursor.session = session.str();
  return cursor;
}

class WordSearch {
 public:
  WordSearch(Database& database, const WordQuery& query)
      : database_(database), query_(query), text_(query_of(query, database.tenant())) {}

  Result<std::vector<WordHit>> find(std::string_view after, std::size_t limit) {
    if (!after.empty()) {
      REPRISE_ASSIGN(after_, parse_cursor(after));
    }
    if (query_.working_dir) {
      REPRISE_ASSIGN(folder_, index_key(*query_.working_dir));
    }
    std::vector<WordHit> hits;
    REPRISE_TRY(
        database_.read([&](Connection& connection) { return find_all(connection, limit, hits); }));
    return hits;
  }

 private:
  Result<> find_all(Connection& connection, std::size_t limit, std::vector<WordHit>& hits);
  Result<Rows> find_newest(Connection& connection, std::int64_t limit);
  Result<Rows> run(Connection& connection, std::int64_t limit,
                   std::optional<std::int64_t> window = std::nullopt);
  Result<> add_hits(const Rows& found, std::size_t limit, std::vector<WordHit>& hits);

  Database& database_;
  const WordQuery& query_;
  const std::string text_;
  std::optional<Cursor> after_;
  std::optional<std::string> folder_;
  enum class Scan : std::uint8_t { not_chosen, sessions, words } scan_ = Scan::not_chosen;
};

// Repeats the query if no session shows some of the rows found.
Result<> WordSearch::find_all(Connection& connection, std::size_t limit,
                              std::vector<WordHit>& hits) {
  while (hits.size() < limit) {
    REPRISE_ASSIGN(const Rows found, find_newest(connection, static_cast<std::int64_t>(limit)));
    REPRISE_TRY(add_hits(found, limit, hits));
    if (static_cast<std::size_t>(found.count()) < limit) {
      break;
    }
    connection.set_deadline(database_.deadline());
  }
  return {};
}

Result<Rows> WordSearch::find_newest(Connection& connection, std::int64_t limit) {
  if (scan_ != Scan::not_chosen) {
    return run(connection, limit);
  }
  std::vector<Query> queries = {{kFindIndexing, values(database_.tenant())}};
  if (folder_) {
    queries.push_back({kCountFolder, values(database_.tenant(), *folder_)});
  }
  REPRISE_ASSIGN(const std::vector<Rows> state, connection.run(queries));
  const std::int64_t messages = state[0].empty() ? 0 : state[0].integer(0, "messages");
  if (query_.session || (folder_ && state[1].integer(0, "messages") < kFewMessages)) {
    scan_ = Scan::sessions;
    return run(connection, limit);
  }
  for (std::int64_t window = kWordsWindow;;) {
    REPRISE_ASSIGN(Rows found, run(connection, limit, window));
    if (found.count() >= limit || window >= messages) {
      return found;
    }
    // The window that is likely to have enough hits. The index of words would check all matching
    // messages.
    const std::int64_t hits = found.count();
    const std::int64_t enough = hits == 0 ? messages : window * limit * 5 / 4 / hits;
    const std::int64_t matching = messages * hits / window;
    if (enough > std::min(matching, messages) || window > kWordsWindow) {
      break;
    }
    window = enough;
  }
  scan_ = Scan::words;
  return run(connection, limit);
}

Result<Rows> WordSearch::run(Connection& connection, std::int64_t limit,
                             std::optional<std::int64_t> window) {
  const std::string statement =
      find_words_statement({.window = window.has_value(),
                            .sessions = !window && scan_ == Scan::sessions,
                            .after = after_.has_value(),
                            .since = query_.since.has_value(),
                            .until = query_.until.has_value(),
                            .session = query_.session.has_value(),
                            .folder = folder_.has_value() && !query_.session,
                            .counts = query_.with_counts});
  Values all = values(database_.tenant(), text_, limit);
  if (window) {
    all.add(*window);
  }
  if (after_) {
    all.add(after_->time_us);
    all.add(after_->session);
    all.add(after_->branch);
    all.add(after_->seq);
  }
  for (const std::optional<Time>& bound : {query_.since, query_.until}) {
    if (bound) {
      all.add(microseconds_of(*bound));
    }
  }
  if (query_.session) {
    all.add(query_.session->str());
  } else if (folder_) {
    all.add(*folder_);
  }
  if (query_.with_counts) {
    all.add(weights_of(query_));
    all.add(words_to_count(query_));
  }
  std::vector<Query> queries;
  queries.push_back({statement, std::move(all)});
  REPRISE_ASSIGN(std::vector<Rows> rows, run_uncompiled(connection, std::move(queries)));
  return std::move(rows.front());
}

// Adds the rows that a session shows, up to the limit.
Result<> WordSearch::add_hits(const Rows& found, std::size_t limit, std::vector<WordHit>& hits) {
  for (int row = 0; row < found.count() && hits.size() < limit; ++row) {
    const RowView view{found, row};
    after_ = Cursor{view.integer("time_us"), view.integer("branch"), view.integer("seq"),
                    std::string(view.bytes("session_id"))};
    if (view.is_null("holder") || (folder_ && view.bytes("folder") != *folder_)) {
      continue;
    }
    REPRISE_ASSIGN(SessionId session, SessionId::parse(view.bytes("holder")));
    if (query_.session && session != *query_.session) {
      continue;
    }
    hits.push_back({.session = std::move(session),
                    .seq = {after_->seq},
                    .time = time_of(after_->time_us),
                    .bytes = view.integer("bytes"),
                    .counts = query_.with_counts ? counts_of(query_, view.bytes("counts")) : "",
                    .is_certain = view.integer("is_long") == 0,
                    .place = cursor_text(*after_)});
  }
  return {};
}

}  // namespace

Result<std::vector<WordHit>> PostgresStore::find_words(const WordQuery& query,
                                                       std::string_view after, std::size_t limit) {
  return WordSearch(database_, query).find(after, limit);
}

Result<std::vector<double>> PostgresStore::word_densities(const WordQuery& query) {
  std::vector<Query> queries;
  for (const WordPhrase& phrase : query.phrases) {
    if (!phrase.without) {
      const WordQuery single = {.phrases = {phrase}, .part = query.part};
      queries.push_back(
          {kCountNewest, values(database_.tenant(), query_of(single, database_.tenant()))});
    }
  }
  REPRISE_ASSIGN(const std::vector<Rows> counted,
                 database_.read([&queries](Connection& connection) {
                   return run_uncompiled(connection, queries);
                 }));
  std::vector<double> densities;
  densities.reserve(counted.size());
  for (const Rows& rows : counted) {
    densities.push_back(
        static_cast<double>(rows.integer(0, "found")) /
        static_cast<double>(std::max<std::int64_t>(rows.integer(0, "looked_at"), 1)));
  }
  return densities;
}

}  // namespace reprise::postgres
