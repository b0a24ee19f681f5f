// The scripts of docs/teams.md: one limits each role to the tenant with its name, the other a
// service's role to the tenant that it serves.

#include <gtest/gtest.h>

#include <atomic>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "postgres/server_support.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "reprise/server_status.h"
#include "store/postgres/connection.h"
#include "store/postgres/url.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

std::string script(std::string_view mark) {
  const std::string page = must(read_file(PROJECT_TEAMS_PAGE));
  const std::size_t begin = page.find("```\n", page.find(mark)) + 4;
  return page.substr(begin, page.find("```", begin) - begin);
}

std::string grants_for(const std::string& role) {
  return std::regex_replace(script("<!-- grants -->"), std::regex("\\bresearch\\b"), role);
}

// A word in all messages.
const WordQuery kWord{.phrases = {{.words = {"word"}}}};
std::size_t found_after_indexing(WordIndex& words) {
  const auto entry_of = [](const Message&) { return WordEntry{.parts = {{"word"}}}; };
  EXPECT_TRUE(must(words.index_words(entry_of, [](auto, auto) { return Flow::proceed; })));
  return must(words.find_words(kWord, "", 1000)).size();
}

class PostgresWalls : public testing::Test {
 protected:
  PostgresWalls() {
    must(migrate_store(url_));
    run(url_, script("<!-- walls -->"));
    for (const std::string& role : {ours_, theirs_}) {
      run(url_, cat("CREATE ROLE ", role, " LOGIN"));
      run(url_, grants_for(role));
    }
  }
  std::unique_ptr<Store> open(const std::string& role, const std::string& tenant) const {
    std::string url = url_;
    url.replace(url.find("reprise@"), 7, role);
    url.replace(url.find("tenant=default"), 14, cat("tenant=", tenant));
    return must(open_store(url));
  }

  const std::string url_ = new_database();
  const std::string name_ = url_.substr(url_.rfind('/') + 2, 16);
  const std::string ours_ = cat("ours", name_);
  const std::string theirs_ = cat("theirs", name_);
};

TEST_F(PostgresWalls, ARoleSeesAndWritesItsOwnTenantOnly) {
  const auto own = open(theirs_, theirs_);
  must(own->create(session("s")));
  must(own->append(session_id("s"), messages(2), {}));
  EXPECT_EQ(must(read_all(*own, session_id("s"))).size(), 2U);

  WordIndex* const words = own->capabilities().word_index;
  ASSERT_NE(words, nullptr);
  EXPECT_EQ(found_after_indexing(*words), 2U);

  const auto other_tenant = open(ours_, theirs_);
  EXPECT_EQ(must(other_tenant->capabilities().word_index->find_words(kWord, "", 9)).size(), 0U);
  EXPECT_TRUE(must(other_tenant->list({})).sessions.empty());
  EXPECT_EQ(must(other_tenant->find(session_id("s"))), std::nullopt);
  EXPECT_FALSE(other_tenant->append(session_id("s"), messages(1), {}));
  EXPECT_FALSE(other_tenant->create(session("mine")));
  EXPECT_EQ(must(read_all(*own, session_id("s"))).size(), 2U);
  EXPECT_EQ(must(own->list({})).sessions.size(), 1U);
}

TEST(PostgresUses, ARoleThatMayCreateNothingUsesTheStore) {
  const std::string url = new_database();
  const std::string role = cat("uses", url.substr(url.rfind('/') + 2, 12));
  must(migrate_store(url));
  run(url, cat("CREATE ROLE ", role, " LOGIN"));
  run(url, "REVOKE ALL ON SCHEMA public FROM public");
  run(url, std::regex_replace(script("<!-- uses -->"), std::regex("\\bwriter\\b"), role));
  std::string plain = url;
  plain.replace(plain.find("reprise@"), 7, role);
  const auto store = must(open_store(plain));
  must(store->create(session("s")));
  must(store->append(session_id("s"), messages(2), {}));
  WordIndex* const words = store->capabilities().word_index;
  ASSERT_NE(words, nullptr);
  EXPECT_EQ(must(count_unindexed(plain, {})).front().messages, 2);
  EXPECT_EQ(found_after_indexing(*words), 2U);
  EXPECT_EQ(must(count_unindexed(plain, {})).front().messages, 0);
  EXPECT_TRUE(must(find_blockers(plain)).empty());
  std::vector<std::string> steps;
  must(migrate_store(plain, {}, {.dry_run = true, .on_step = [&](std::string_view step) {
                                   steps.emplace_back(step);
                                 }}));
  EXPECT_EQ(steps, std::vector<std::string>());
  must(store->capabilities().trash->trash(session_id("s"), Time{}));
  must(store->capabilities().trash->purge(session_id("s")));
}

// Whoever keeps others waiting is named.
TEST(PostgresStatus, NamesTheTransactionThatOthersWaitFor) {
  const std::string url = new_database();
  const auto store = must(open_store(url));
  must(store->create(session("s")));
  EXPECT_TRUE(must(find_blockers(url)).empty());
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  const auto holder =
      must(postgres::Connection::open(must(postgres::parse_url(url)).servers.front(), deadline));
  holder->set_deadline(deadline);
  must(holder->run({{"BEGIN"}, {"LOCK TABLE reprise_heads"}}));
  std::atomic<bool> is_found = false;
  std::jthread waiter([&] {
    while (!is_found) {
      (void)store->list({});
    }
  });
  std::vector<StoreBlocker> blockers;
  while (blockers.empty()) {
    blockers = must(find_blockers(url));
  }
  is_found = true;
  must(holder->run_one({"ROLLBACK"}));
  ASSERT_EQ(blockers.size(), 1U);
  EXPECT_EQ(blockers.front().table, "reprise_heads");
  EXPECT_EQ(blockers.front().waiting, 1);
}

// A session is then found by its short id, and words by theirs, without reading all of the tenant.
TEST_F(PostgresWalls, ARoleUsesTheIndexesWhoseFunctionsAreLeakproof) {
  run(url_, cat("INSERT INTO reprise_heads(tenant, session_id, head, branch, updated_us, state,"
                " folder) SELECT '",
                ours_, "', md5(n::text), 0, 0, 0, 0, '' FROM generate_series(1, 5000) AS n"));
  run(url_, cat("INSERT INTO reprise_words(tenant, session_id, branch, seq, time_us, bytes, words)"
                " SELECT '",
                ours_,
                "', n::text, 0, 0, 0, 1, to_tsvector('simple', 'word' || n)"
                " FROM generate_series(1, 5000) AS n"));
  run(url_, "ANALYZE");
  std::string url = url_;
  url.replace(url.find("reprise@"), 7, ours_);
  const std::vector<std::string> statements = {
      cat("SELECT session_id FROM reprise_heads WHERE tenant = '", ours_,
          "' AND state >= 0 AND substr(session_id, 25) >= 'abcd'"
          " AND substr(session_id, 25) < 'abce'"),
      cat("SELECT session_id FROM reprise_words WHERE tenant = '", ours_,
          "' AND words @@ 'word7'::tsquery")};
  const char* const indexes[] = {"reprise_by_short_id", "reprise_by_word"};
  const std::vector<std::string> before = plans(url, statements);
  const std::string commands = script("<!-- leakproof -->");
  const std::size_t second = commands.find('\n') + 1;
  run(url_, commands.substr(0, second));
  run(url_, commands.substr(second));
  const std::vector<std::string> after = plans(url, statements);
  for (std::size_t i = 0; i < statements.size(); ++i) {
    EXPECT_EQ(before[i].find(indexes[i]), std::string::npos) << before[i];
    EXPECT_NE(after[i].find(indexes[i]), std::string::npos) << after[i];
  }
}

// What a role may do to the table without a tenant, which all tenants share.
std::string rights_to_versions(const std::string& url, const std::string& role) {
  return query(url, cat("SELECT string_agg(privilege, ' ') FROM unnest(ARRAY['SELECT', 'INSERT',"
                        " 'UPDATE', 'DELETE', 'TRUNCATE']) AS privilege WHERE"
                        " has_table_privilege('",
                        role, "', 'reprise_schema', privilege)"));
}

TEST_F(PostgresWalls, ARoleCannotLockOutOtherTenants) {
  EXPECT_EQ(rights_to_versions(url_, theirs_), "SELECT");
  const std::string everything =
      cat("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ", theirs_);
  run(url_, everything);
  EXPECT_EQ(rights_to_versions(url_, theirs_), "SELECT INSERT UPDATE DELETE");
  run(url_, grants_for(theirs_));
  EXPECT_EQ(rights_to_versions(url_, theirs_), "SELECT");
  must(open(theirs_, theirs_)->create(session("s")));
}

class PostgresWallsBySetting : public testing::Test {
 protected:
  PostgresWallsBySetting() {
    must(migrate_store(url_));
    run(url_,
        "DO $$ BEGIN CREATE ROLE service LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$");
    run(url_, script("<!-- walls by a setting -->"));
    plain_.replace(plain_.find("reprise@"), 7, "service");
  }

  const std::string url_ = new_database();
  std::string plain_ = url_;  // as the role of the service
};

TEST_F(PostgresWallsBySetting, TheServiceMayOnlyReadTheVersionOfTheTables) {
  EXPECT_EQ(rights_to_versions(url_, "service"), "SELECT");
}

// All operations on a session, for two tenants alternately over one connection.
TEST_F(PostgresWallsBySetting, AServiceSeesTheTenantThatItServes) {
  const auto service = must(open_store(cat(plain_, "&set_tenant=yes"), {.connections_max = 1}));
  Tenants& tenants = *service->capabilities().tenants;
  const auto one = must(tenants.of("one"));
  const auto other = must(tenants.of("other"));
  const SessionId id = session_id("s");
  for (Store* const store : {one.get(), other.get()}) {
    must(store->create(session("s")));
    must(store->append(id, messages(300), {}));
    must(store->append(id, {user("Why?")}, {.begin_partial = running_answer("a")}));
  }
  for (Store* const store : {one.get(), other.get()}) {
    const std::vector<Block> delta = {TextBlock{"So", {}}};
    must(store->capabilities().partials->add_partial(id, operation_id("a"), delta));
  }
  for (Store* const store : {one.get(), other.get()}) {
    EXPECT_EQ(must(read_all(*store, id)).size(), 301U);
    EXPECT_EQ(must(store->list({})).sessions.size(), 1U);
    const auto partial = must(store->capabilities().partials->find_partial(id));
    ASSERT_TRUE(partial);
    EXPECT_EQ(partial->blocks, (std::vector<Block>{TextBlock{"So", {}}}));
    must(store->append(id, {assistant("So it is.")}, {.end_partial = operation_id("a")}));
    EXPECT_TRUE(must(store->capabilities().verifier->verify()).damage.empty());
  }
  for (Store* const store : {one.get(), other.get()}) {
    EXPECT_EQ(found_after_indexing(*store->capabilities().word_index), 302U);
  }
  must(one->capabilities().trash->purge(id));
  EXPECT_EQ(found_after_indexing(*one->capabilities().word_index), 0U);
  EXPECT_EQ(found_after_indexing(*other->capabilities().word_index), 302U);
  EXPECT_EQ(must(one->find(id)), std::nullopt);
  EXPECT_EQ(must(read_all(*other, id)).size(), 302U);
}

TEST_F(PostgresWallsBySetting, NothingIsVisibleWithoutTheSettingOrWithAnotherTenant) {
  const auto service = must(open_store(cat(plain_, "&set_tenant=yes")));
  const auto one = must(service->capabilities().tenants->of("one"));
  must(one->create(session("s")));
  // A program without the setting, and a statement with another tenant than the setting.
  const auto forgetful = must(open_store(plain_));
  const auto same = must(forgetful->capabilities().tenants->of("one"));
  EXPECT_TRUE(must(same->list({})).sessions.empty());
  EXPECT_FALSE(same->create(session("mine")));
  EXPECT_EQ(query(plain_, "SELECT count(*) FROM reprise_sessions"), "0");
  EXPECT_EQ(query(cat(plain_, "&options=-c%20reprise.tenant%3Dother"),
                  "SELECT count(*) FROM reprise_sessions WHERE tenant = 'one'"),
            "0");
  EXPECT_EQ(query(cat(plain_, "&options=-c%20reprise.tenant%3Done"),
                  "SELECT count(*) FROM reprise_sessions"),
            "1");
}

// Newer tables without policies: words of other tenants are not visible.
TEST_F(PostgresWallsBySetting, WordsWithoutPoliciesAreNotUsed) {
  run(url_, "ALTER TABLE reprise_words DISABLE ROW LEVEL SECURITY");
  const auto service = must(open_store(cat(plain_, "&set_tenant=yes")));
  EXPECT_EQ(service->capabilities().word_index, nullptr);
  run(url_, script("<!-- walls by a setting -->"));
  EXPECT_NE(must(open_store(cat(plain_, "&set_tenant=yes")))->capabilities().word_index, nullptr);
}

// Two tenants' streaming answers may be in one transaction.
TEST_F(PostgresWallsBySetting, AnswersOfSeveralTenantsStreamTogether) {
  const auto service = must(open_store(cat(plain_, "&set_tenant=yes")));
  constexpr int kTenants = 8;
  std::vector<std::unique_ptr<Store>> stores;
  const SessionId id = session_id("s");
  for (int number = 0; number < kTenants; ++number) {
    stores.push_back(must(service->capabilities().tenants->of(cat("t", number))));
    must(stores.back()->create(session("s")));
    must(stores.back()->append(id, {user("Why?")}, {.begin_partial = running_answer("a")}));
  }
  {
    std::vector<std::jthread> threads;
    for (const auto& store : stores) {
      threads.emplace_back([&id, &store] {
        for (int piece = 0; piece < 5; ++piece) {
          const std::vector<Block> delta = {TextBlock{std::to_string(piece), {}}};
          EXPECT_TRUE(
              works(store->capabilities().partials->add_partial(id, operation_id("a"), delta)));
        }
      });
    }
  }
  for (const auto& store : stores) {
    const auto partial = must(store->capabilities().partials->find_partial(id));
    ASSERT_TRUE(partial);
    EXPECT_EQ(partial->blocks, (std::vector<Block>{TextBlock{"01234", {}}}));
  }
}

}  // namespace
}  // namespace reprise::test
