// Lists by title and mode, which are not in the heads.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/encode.h"
#include "base/text.h"
#include "postgres/server_support.h"
#include "reprise/open_store.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

constexpr int kMany = 4500;  // more than are few and than are looked at together at first

using Ids = std::vector<std::string>;

// What heads have of the mode of sessions AS s.
constexpr std::string_view kModeKey =
    "CASE WHEN length(s.mode) > 200 THEN convert_to('sha256:' || encode(sha256(s.mode), 'hex'),"
    " 'UTF8') ELSE s.mode END";

// Sessions s1 to s4500 of "many", the newest last; their titles are "Title of N".
class PostgresLookup : public testing::Test {
 protected:
  PostgresLookup() {
    must(migrate_store(url_));
    run(url_,
        cat("INSERT INTO reprise_heads(tenant, session_id, head, branch, updated_us, updated_slot,"
            " state, folder, title_start, mode_key) SELECT 'many', 's' || i, 0, 0,"
            " i * 90000000::int8, i * 90000000::int8 >> 26, i % 2, convert_to('/' || i % 2,"
            " 'UTF8'), convert_to('title of ' || i, 'UTF8'), 'code' FROM generate_series(1, ",
            kMany, ") AS i"));
    run(url_,
        cat("INSERT INTO reprise_sessions(tenant, session_id, title, title_lower, mode, provider,"
            " model, working_dir, created_us) SELECT 'many', 's' || i,"
            " convert_to('Title of ' || i, 'UTF8'), convert_to('title of ' || i, 'UTF8'), 'code',"
            " '', '', convert_to('/' || i % 2, 'UTF8'), 1 FROM generate_series(1, ",
            kMany, ") AS i"));
  }
  std::unique_ptr<Store> open(const StoreOptions& options = {},
                              std::string_view role = "reprise") const {
    std::string url = cat(url_.substr(0, url_.find('?')), "?tenant=many");
    url.replace(url.find("reprise@"), 7, role);
    return must(open_store(url, options));
  }
  static Ids pages(Store& store, SessionQuery query) {
    Ids ids;
    do {
      const SessionPage page = must(store.list(query));
      EXPECT_LE(page.sessions.size(), query.limit);
      for (const SessionInfo& info : page.sessions) {
        ids.push_back(info.id.str());
      }
      query.after = page.next;
    } while (!query.after.empty() && ids.size() < kMany);
    return ids;
  }
  void change(std::string_view set, std::string_view where) const {
    run(url_, cat("UPDATE reprise_sessions SET ", set, " WHERE tenant = 'many' AND ", where));
    run(url_, cat("UPDATE reprise_heads AS h SET title_start = substr(s.title_lower, 1, 200),"
                  " mode_key = ",
                  kModeKey,
                  " FROM reprise_sessions AS s WHERE s.tenant = 'many' AND h.tenant = 'many'"
                  " AND s.session_id = h.session_id"));
  }
  // So many that match nothing, after all others.
  void add_newer(int count) const {
    run(url_,
        cat("INSERT INTO reprise_heads(tenant, session_id, head, branch, updated_us, updated_slot,"
            " state, folder, mode_key) SELECT 'many', 'new' || i, 0, 0,"
            " (90000 + i) * 90000000::int8, (90000 + i) * 90000000::int8 >> 26, 0, '/', 'code'"
            " FROM generate_series(1, ",
            count, ") AS i"));
    run(url_,
        cat("INSERT INTO reprise_sessions(tenant, session_id, title, title_lower, mode, provider,"
            " model, working_dir, created_us) SELECT 'many', 'new' || i, '', '', 'code', '', '',"
            " '/', 1 FROM generate_series(1, ",
            count, ") AS i"));
  }
  // What a list should have, by the server's own means.
  Ids expected(std::string_view where) const {
    std::istringstream words(
        query(url_, cat("SELECT coalesce(string_agg(session_id, ' ' ORDER BY pinned DESC,"
                        " updated_us DESC, session_id DESC), '') FROM reprise_heads JOIN"
                        " reprise_sessions USING (tenant, session_id) WHERE tenant = 'many' AND ",
                        where)));
    Ids ids;
    for (std::string word; words >> word;) {
      ids.push_back(word);
    }
    return ids;
  }
  // Sessions whose heads have other copies than their rows say.
  std::string wrong_copies() const {
    return query(url_, cat("SELECT count(*) FROM reprise_sessions AS s JOIN reprise_heads USING"
                           " (tenant, session_id) WHERE (title_start, mode_key) IS DISTINCT FROM"
                           " (substr(title_lower, 1, 200), ",
                           kModeKey, ")"));
  }
  int entries_read_of(const char* index) const {
    return std::stoi(query(url_, cat("SELECT idx_tup_read FROM pg_stat_user_indexes"
                                     " WHERE indexrelname = '",
                                     index, "'")));
  }
  // How often the index was read, once the clients that did so are gone.
  int scans_of(const char* index) const {
    return std::stoi(query(
        url_, cat("SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = '", index, "'")));
  }

  const std::string url_ = new_database();
};

// With 30,000 messages of an author, the sessions are looked at in the order of the list.
TEST_F(PostgresLookup, SessionsOfAFrequentAuthorAreFoundPageByPage) {
  run(url_,
      "INSERT INTO reprise_messages(tenant, session_id, branch, seq, created_us, more, role,"
      " content, author) SELECT 'many', 's' || i, 0, n, 1, 0, 'user', '[]', 'Ann'"
      " FROM generate_series(1, 4500) AS i, generate_series(0, 9) AS n WHERE i % 3 <> 0");
  run(url_, "UPDATE reprise_heads SET head = 10 WHERE tenant = 'many'");
  // s3 shares messages of Ann, s6 none of them; those of s2 were replaced.
  run(url_,
      "INSERT INTO reprise_branches(tenant, session_id, branch, base_session, base_branch,"
      " base_count) VALUES('many', 's3', 0, 's4', 0, 1), ('many', 's6', 0, 's4', 0, 0)");
  run(url_, "UPDATE reprise_heads SET branch = 1 WHERE tenant = 'many' AND session_id = 's2'");
  const SessionQuery query{.author = must(Author::parse("Ann"))};
  const Ids all =
      expected("(substr(session_id, 2)::int % 3 <> 0 OR session_id = 's3') AND session_id <> 's2'");
  for (const std::size_t limit : {7U, 50U, 1000U}) {
    SessionQuery page = query;
    page.limit = limit;
    EXPECT_EQ(pages(*open(), page), all) << limit;
  }
  SessionQuery of_folder = query;
  of_folder.working_dir = "/1";
  of_folder.mode = "code";
  EXPECT_EQ(pages(*open(), of_folder),
            expected("(substr(session_id, 2)::int % 3 <> 0 OR session_id = 's3') AND session_id <>"
                     " 's2' AND folder = '/1'"));
}

TEST_F(PostgresLookup, AListOfAFrequentAuthorDoesNotReadAllTheirMessages) {
  run(url_,
      "INSERT INTO reprise_messages(tenant, session_id, branch, seq, created_us, more, role,"
      " content, author) SELECT 'many', 's' || i, 0, n, 1, 0, 'user', '[]', 'Ann'"
      " FROM generate_series(1, 4500) AS i, generate_series(0, 9) AS n");
  run(url_, "UPDATE reprise_heads SET head = 10 WHERE tenant = 'many'");
  const SessionQuery query{.author = must(Author::parse("Ann"))};
  EXPECT_EQ(must(open()->list(query)).sessions.size(), query.limit);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (entries_read_of("reprise_by_author") == 0 && std::chrono::steady_clock::now() < end) {
  }
  EXPECT_GT(entries_read_of("reprise_by_author"), 5'000);
  EXPECT_LT(entries_read_of("reprise_by_author"), 10'000);
}

TEST_F(PostgresLookup, TitlesFarBackAreFoundPageByPage) {
  const auto store = open();
  Ids expected;
  for (int i = kMany - kMany % 700; i > 0; i -= 700) {
    change(cat("title = 'A Needle', title_lower = 'a needle'"), cat("session_id = 's", i, "'"));
    expected.push_back(cat("s", i));
  }
  for (const std::size_t limit : {1U, 2U, 50U}) {
    EXPECT_EQ(pages(*store, {.title_contains = "NEEDle", .limit = limit}), expected) << limit;
    EXPECT_EQ(pages(*store, {.title_contains = "dl", .limit = limit}), expected) << limit;
    EXPECT_EQ(pages(*store, {.mode = "code", .title_contains = "needle", .limit = limit}), expected)
        << limit;
  }
  EXPECT_EQ(pages(*store, {.working_dir = "/1", .title_contains = "needle"}), Ids{});
  EXPECT_EQ(pages(*store, {.working_dir = "/0", .title_contains = "needle", .limit = 2}), expected);
  EXPECT_EQ(pages(*store, {.states = {SessionState::closed}, .title_contains = "needle"}), Ids{});
  EXPECT_EQ(pages(*store, {.title_contains = "title of 17", .limit = 7}).size(), 111U);
  EXPECT_EQ(pages(*store, {.title_contains = "nobody's"}), Ids{});
  EXPECT_EQ(pages(*store, {.title_contains = "q!"}), Ids{});
  // Too many for the index.
  EXPECT_EQ(pages(*store, {.working_dir = "/0", .title_contains = "title", .limit = 1000}).size(),
            kMany / 2 - expected.size());
}

TEST_F(PostgresLookup, ModesFarBackAreFoundPageByPage) {
  const auto store = open();
  const std::string long_mode(5000, 'm');
  change("mode = 'plan'", "session_id IN ('s3', 's7')");
  change(cat("mode = '", long_mode, "'"), "session_id = 's5'");
  EXPECT_EQ(pages(*store, {.mode = "plan"}), (Ids{"s7", "s3"}));
  EXPECT_EQ(pages(*store, {.mode = "plan", .limit = 1}), (Ids{"s7", "s3"}));
  EXPECT_EQ(pages(*store, {.mode = long_mode}), Ids{"s5"});
  EXPECT_EQ(pages(*store, {.mode = "pla"}), Ids{});
  EXPECT_EQ(pages(*store, {.mode = ""}), Ids{});
  EXPECT_EQ(pages(*store, {.mode = "code", .limit = 1000}).size(), kMany - 3U);
}

// Behind many more than are looked at together: whatever is looked for, and wherever it is.
TEST_F(PostgresLookup, WhatIsFarBackTakesFewStatements) {
  change("mode = 'plan'", "true");
  add_newer(40'000);
  StoreStatistics statistics;
  StoreOptions options;
  options.statistics = &statistics;
  const auto store = open(options);
  const auto statements_of = [&](const SessionQuery& query, std::string_view first) {
    const auto before = statistics.counts().round_trips.count;
    const SessionPage page = must(store->list(query));
    EXPECT_EQ(page.sessions.empty() ? "" : page.sessions.front().id.str(), first);
    return statistics.counts().round_trips.count - before;
  };
  EXPECT_LE(statements_of({.mode = "plan"}, "s4500"), 1U);
  EXPECT_LE(statements_of({.mode = "none"}, ""), 1U);
  EXPECT_LE(statements_of({.mode = "plan", .title_contains = "le of 7"}, "s799"), 2U);
  EXPECT_LE(statements_of({.title_contains = "title of 7"}, "s799"), 3U);
  EXPECT_LE(statements_of({.title_contains = "title"}, "s4500"), 7U);  // too many for the index
  EXPECT_LE(statements_of({.title_contains = "!"}, ""), 6U);
  EXPECT_LE(statements_of({.working_dir = "/0", .title_contains = "!"}, ""), 3U);
  SessionQuery query{.mode = "plan", .limit = 50};
  for (const int newest : {kMany, kMany - 50}) {
    const SessionPage page = must(store->list(query));
    ASSERT_EQ(page.sessions.size(), 50U);
    EXPECT_EQ(page.sessions.front().id.str(), cat("s", newest));
    EXPECT_EQ(page.sessions.back().id.str(), cat("s", newest - 49));
    query.after = page.next;
  }
}

// Pinned ones, states and folders, rare and frequent titles and modes: what is found is what is
// there, page by page, however it is found.
TEST_F(PostgresLookup, EveryListHasWhatIsThere) {
  change("title_lower = convert_to('100%_ \\ \u0436rger ' || substr(session_id, 2), 'UTF8')",
         "substr(session_id, 2)::int % 41 = 3");
  change("mode = 'plan'", "substr(session_id, 2)::int % 13 = 5");
  run(url_,
      "UPDATE reprise_heads SET pinned = 1 WHERE length(session_id) = 5 AND"
      " substr(session_id, 2)::int % 2 = 1");  // more than are looked at together
  run(url_,
      "UPDATE reprise_heads SET state = substr(session_id, 2)::int % 4 WHERE"
      " substr(session_id, 2)::int % 10 < 8");
  // A minute in which much happened.
  run(url_,
      "UPDATE reprise_heads SET updated_us = 90000000000 + length(session_id),"
      " updated_slot = 90000000000 >> 26 WHERE substr(session_id, 2)::int % 3 = 1");
  const auto store = open();
  const std::string numbers[] = {"0", "1", "2", "3"};
  const SessionState states[] = {SessionState::active, SessionState::closed, SessionState::archived,
                                 SessionState::trashed};
  const std::vector<std::vector<int>> chosen = {{0, 1}, {3}, {2, 1}, {0, 1, 2, 3}};
  int turn = 0;
  for (const std::string title :
       {"%", "_", "\\", "\u0436", "100%_ ", "title of 1", "7", "99", "e of", "zz", "zzz", "123"}) {
    for (const std::vector<int>& of : chosen) {
      for (const char* const mode : {"", "plan", "code"}) {
        for (const char* const folder : {"", "/1"}) {
          if (++turn % 5 > 1) {
            continue;  // no number of choices is a multiple of 5, so every pair of them is tried
          }
          SessionQuery query{.states = {}, .title_contains = title, .limit = 200};
          std::string in;
          for (const int state : of) {
            query.states.push_back(states[state]);
            in += cat(in.empty() ? "" : ", ", numbers[state]);
          }
          std::string where = cat("state IN (", in, ") AND position('\\x", hex_encode(title),
                                  "'::bytea IN title_lower) > 0");
          if (*mode != 0) {
            query.mode = mode;
            where += cat(" AND mode = '", mode, "'");
          }
          if (*folder != 0) {
            query.working_dir = folder;
            where += cat(" AND folder = '", folder, "'");
          }
          EXPECT_EQ(pages(*store, query), expected(where)) << title << " " << where;
        }
      }
    }
  }
  EXPECT_EQ(pages(*store, {.mode = "plan", .limit = 7}), expected("state < 2 AND mode = 'plan'"));
  EXPECT_EQ(pages(*store, {.working_dir = "/0", .mode = "plan", .limit = 7}),
            expected("state < 2 AND mode = 'plan' AND folder = '/0'"));
}

// Each session that stays where it is is listed once, whether looks or the index found it.
TEST_F(PostgresLookup, PagesHaveNeitherGapsNorRepeatsWhileSessionsMove) {
  add_newer(3000);
  const auto store = open();
  for (const auto& [title, limit] : std::initializer_list<std::pair<const char*, std::size_t>>{
           {"title of 12", 7}, {"title of 1", 40}, {"9", 50}}) {
    std::set<std::string> moved;
    Ids found;
    SessionQuery query{.title_contains = title, .limit = limit};
    for (int turn = 0; found.empty() || !query.after.empty(); ++turn) {
      const SessionPage page = must(store->list(query));
      for (const SessionInfo& info : page.sessions) {
        found.push_back(info.id.str());
      }
      query.after = page.next;
      for (const int number : {1200 + turn, 129 - turn % 10, 1990 + turn}) {
        must(store->append(session_id(cat("s", number)), messages(1), {}));
        moved.insert(cat("s", number));
      }
    }
    for (const std::string& id : found) {
      EXPECT_TRUE(moved.contains(id) || std::ranges::count(found, id) == 1) << id;
    }
    for (const std::string& id :
         expected(cat("state < 2 AND position('", title, "'::bytea IN title_lower) > 0"))) {
      EXPECT_TRUE(moved.contains(id) || std::ranges::find(found, id) != found.end()) << id;
    }
  }
}

// Characters that PostgreSQL's text cannot hold, and titles of which the index has only the
// beginning.
TEST_F(PostgresLookup, AnyTitleIsFoundByAnyPartOfIt) {
  const auto store = open();
  const std::string odd("\u00ff\0\\ 1:\u00e3'%_ ", 13);
  const std::string large = cat(std::string(1000, 'x'), "far away");
  const std::pair<const char*, std::string> titles[] = {
      {"s1", odd}, {"s2", large}, {"s3", "ab"}, {"s4", ""}, {"s5", std::string(300'000, 'y')}};
  for (const auto& [id, title] : titles) {
    must(store->update(session_id(id), {.title = title}));
  }
  for (std::size_t from = 0; from + 3 <= odd.size(); ++from) {
    if ((static_cast<unsigned char>(odd[from]) & 0xC0U) == 0x80U) {
      continue;  // within a character
    }
    EXPECT_EQ(pages(*store, {.title_contains = odd.substr(from)}), Ids{"s1"}) << from;
  }
  EXPECT_EQ(pages(*store, {.title_contains = "xxfar"}), Ids{"s2"});
  EXPECT_EQ(pages(*store, {.title_contains = "FAR AWAY"}), Ids{"s2"});
  EXPECT_EQ(pages(*store, {.title_contains = "far way"}), Ids{});
  EXPECT_EQ(pages(*store, {.title_contains = "ab"}), Ids{"s3"});
  EXPECT_EQ(pages(*store, {.title_contains = std::string(1500, 'y')}), Ids{"s5"});
  for (const std::size_t length :
       {198U, 199U, 200U, 201U, 202U, 203U, 995U, 999U, 1000U, 1001U, 1002U, 1003U, 1006U}) {
    std::string title(length, 'z');
    title.replace(length - 3, 3, "end");
    must(store->update(session_id("s6"), {.title = title}));
    EXPECT_EQ(pages(*store, {.title_contains = "zend"}), Ids{"s6"}) << length;
    EXPECT_EQ(pages(*store, {.title_contains = "end"}), Ids{"s6"}) << length;
    EXPECT_EQ(pages(*store, {.title_contains = "nd"}), Ids{"s6"}) << length;
    EXPECT_EQ(wrong_copies(), "0") << length;
  }
}

// Nothing reads the sessions of a tenant one by one for what is nowhere.
TEST_F(PostgresLookup, WhatIsNowhereIsToldByAnIndex) {
  run(url_, "ANALYZE");
  const std::string read =
      "SELECT seq_tup_read FROM pg_stat_user_tables WHERE relname ="
      " 'reprise_sessions'";
  const int before = std::stoi(query(url_, read));
  {
    const auto store = open();
    for (int time = 0; time < 8; ++time) {  // also with the generic plan
      EXPECT_EQ(pages(*store, {.title_contains = cat("nobody's ", time)}), Ids{});
      EXPECT_EQ(pages(*store, {.mode = cat("none ", time)}), Ids{});
    }
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while ((scans_of("reprise_by_title") == 0 || scans_of("reprise_by_mode_slot") == 0) &&
         std::chrono::steady_clock::now() < end) {
  }
  EXPECT_GE(scans_of("reprise_by_title"), 8);
  EXPECT_GE(scans_of("reprise_by_mode_slot"), 8);
  EXPECT_LT(std::stoi(query(url_, read)) - before, 100) << "the first rows of scans that then end";
}

// With row-level security, where the server does not use the index of titles, and without it.
TEST_F(PostgresLookup, FindsTheSameWithoutTheIndexes) {
  change("title = 'Needle', title_lower = 'needle', mode = 'plan'", "session_id IN ('s2', 's9')");
  const auto check = [](Store& store) {
    EXPECT_EQ(pages(store, {.title_contains = "needle", .limit = 1}), (Ids{"s9", "s2"}));
    EXPECT_EQ(pages(store, {.mode = "plan", .limit = 1}), (Ids{"s9", "s2"}));
    EXPECT_EQ(pages(store, {.title_contains = "nobody's"}), Ids{});
    EXPECT_EQ(pages(store, {.title_contains = "title", .limit = 1000}).size(), kMany - 2U);
  };
  const std::string role = cat("looker", url_.substr(url_.rfind('/') + 2, 16));
  run(url_, cat("CREATE ROLE ", role, " LOGIN"));
  run(url_, cat("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ", role));
  run(url_, "ALTER TABLE reprise_sessions ENABLE ROW LEVEL SECURITY");
  run(url_, "CREATE POLICY own ON reprise_sessions USING (tenant = 'many')");
  check(*open({}, role));
  run(url_, "DROP INDEX reprise_by_title, reprise_by_mode_slot");
  check(*open({.access = Access::read}));
}

// A missing row at the end of a scan does not end the list.
TEST_F(PostgresLookup, MissingRowsDoNotEndAScan) {
  change("title = 'x!', title_lower = 'x!'", "session_id = 's1'");
  run(url_, "DELETE FROM reprise_sessions WHERE session_id = 's3501' OR session_id = 's2501'");
  EXPECT_EQ(pages(*open(), {.title_contains = "x!"}), Ids{"s1"});
}

}  // namespace
}  // namespace reprise::test
