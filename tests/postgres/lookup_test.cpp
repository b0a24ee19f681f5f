// Lists by title and mode, which are not in the heads.

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/text.h"
#include "postgres/server_support.h"
#include "reprise/open_store.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

constexpr int kMany = 4500;  // more than kFewSessions and kLookedAt

using Ids = std::vector<std::string>;

// Sessions s1 to s4500 of "many", the newest last; their titles are "Title of N".
class PostgresLookup : public testing::Test {
 protected:
  PostgresLookup() {
    must(migrate_store(url_));
    run(url_,
        cat("INSERT INTO reprise_heads(tenant, session_id, head, branch, updated_us, updated_slot,"
            " state, folder) SELECT 'many', 's' || i, 0, 0, i * 90000000::int8,"
            " i * 90000000::int8 >> 26, i % 2, convert_to('/' || i % 2, 'UTF8') FROM "
            "generate_series(1, ",
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
  }
  // The number of index scans, complete once the clients are disconnected.
  int scans_of(const char* index) const {
    return std::stoi(query(
        url_, cat("SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = '", index, "'")));
  }

  const std::string url_ = new_database();
};

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

// More than are considered few at first, and all of them after more sessions than are scanned.
TEST_F(PostgresLookup, ManyOldMatchesNeedFewStatements) {
  constexpr int kNewer = 40'000;
  change("mode = 'plan'", "true");
  run(url_,
      cat("INSERT INTO reprise_heads(tenant, session_id, head, branch, updated_us, updated_slot,"
          " state, folder) SELECT 'many', 'new' || i, 0, 0, (90000 + i) * 90000000::int8,"
          " (90000 + i) * 90000000::int8 >> 26, 0, '/' FROM generate_series(1, ",
          kNewer, ") AS i"));
  run(url_,
      cat("INSERT INTO reprise_sessions(tenant, session_id, title, title_lower, mode, provider,"
          " model, working_dir, created_us) SELECT 'many', 'new' || i, '', '', 'code', '', '', '/',"
          " 1 FROM generate_series(1, ",
          kNewer, ") AS i"));
  StoreStatistics statistics;
  StoreOptions options;
  options.statistics = &statistics;
  const auto store = open(options);
  SessionQuery query{.mode = "plan", .limit = 50};
  for (const int newest : {kMany, kMany - 50}) {
    const auto before = statistics.counts().round_trips.count;
    const SessionPage page = must(store->list(query));
    EXPECT_LT(statistics.counts().round_trips.count - before, 45);
    ASSERT_EQ(page.sessions.size(), 50U);
    EXPECT_EQ(page.sessions.front().id.str(), cat("s", newest));
    EXPECT_EQ(page.sessions.back().id.str(), cat("s", newest - 49));
    query.after = page.next;
  }
}

// Bytes that are not allowed in text, and titles of which the index has only the beginning.
TEST_F(PostgresLookup, AnyTitleIsFoundByAnyPartOfIt) {
  const auto store = open();
  const std::string odd("\xff\0\\ 1:\xc3'%_ ", 11);
  const std::string large = cat(std::string(1000, 'x'), "far away");
  const std::pair<const char*, std::string> titles[] = {
      {"s1", odd}, {"s2", large}, {"s3", "ab"}, {"s4", ""}, {"s5", std::string(300'000, 'y')}};
  for (const auto& [id, title] : titles) {
    must(store->update(session_id(id), {.title = title}));
  }
  for (std::size_t from = 0; from + 3 <= odd.size(); ++from) {
    EXPECT_EQ(pages(*store, {.title_contains = odd.substr(from)}), Ids{"s1"}) << from;
  }
  EXPECT_EQ(pages(*store, {.title_contains = "xxfar"}), Ids{"s2"});
  EXPECT_EQ(pages(*store, {.title_contains = "FAR AWAY"}), Ids{"s2"});
  EXPECT_EQ(pages(*store, {.title_contains = "far way"}), Ids{});
  EXPECT_EQ(pages(*store, {.title_contains = "ab"}), Ids{"s3"});
  EXPECT_EQ(pages(*store, {.title_contains = std::string(1500, 'y')}), Ids{"s5"});
  for (std::size_t length = 995; length <= 1006; ++length) {
    std::string title(length, 'z');
    title.replace(length - 3, 3, "end");
    must(store->update(session_id("s6"), {.title = title}));
    EXPECT_EQ(pages(*store, {.title_contains = "zend"}), Ids{"s6"}) << length;
    EXPECT_EQ(pages(*store, {.title_contains = "end"}), Ids{"s6"}) << length;
  }
}

// A search without matches does not scan all sessions of a tenant.
TEST_F(PostgresLookup, SearchesWithoutMatchesUseAnIndex) {
  run(url_, "ANALYZE");
  const std::string read =
      "SELECT seq_tup_read FROM pg_stat_user_tables WHERE relname ="
      " 'reprise_sessions'";
  const std::string before = query(url_, read);
  {
    const auto store = open();
    for (int time = 0; time < 8; ++time) {  // also with the generic plan
      EXPECT_EQ(pages(*store, {.title_contains = cat("nobody's ", time)}), Ids{});
      EXPECT_EQ(pages(*store, {.mode = cat("none ", time)}), Ids{});
    }
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while ((scans_of("reprise_by_title") == 0 || scans_of("reprise_by_mode") == 0) &&
         std::chrono::steady_clock::now() < end) {
  }
  EXPECT_GE(scans_of("reprise_by_title"), 8);
  EXPECT_GE(scans_of("reprise_by_mode"), 8);
  EXPECT_EQ(query(url_, read), before);
}

// Without the indexes: in tables that were not migrated, and with row-level security, where the
// server does not use the index of titles.
TEST_F(PostgresLookup, FindsTheSameWithoutTheIndexes) {
  change("title = 'Needle', title_lower = 'needle', mode = 'plan'", "session_id IN ('s2', 's9')");
  const auto check = [](Store& store) {
    EXPECT_EQ(pages(store, {.title_contains = "needle", .limit = 1}), (Ids{"s9", "s2"}));
    EXPECT_EQ(pages(store, {.mode = "plan", .limit = 1}), (Ids{"s9", "s2"}));
    EXPECT_EQ(pages(store, {.title_contains = "nobody's"}), Ids{});
  };
  const std::string role = cat("looker", url_.substr(url_.rfind('/') + 2, 16));
  run(url_, cat("CREATE ROLE ", role, " LOGIN"));
  run(url_, cat("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ", role));
  run(url_, "ALTER TABLE reprise_sessions ENABLE ROW LEVEL SECURITY");
  run(url_, "CREATE POLICY own ON reprise_sessions USING (tenant = 'many')");
  check(*open({}, role));
  run(url_, "DROP INDEX reprise_by_title, reprise_by_mode");
  run(url_, "DELETE FROM reprise_schema WHERE version IN (-6, -7)");
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
