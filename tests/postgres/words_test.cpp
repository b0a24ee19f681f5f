// The index of words in the server: which client indexes, what a purge removes, and programs
// without the index.

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "postgres/server_support.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "reprise/search.h"
#include "reprise/store_statistics.h"
#include "support/build.h"
#include "support/child.h"
#include "support/must.h"

namespace reprise::test {
namespace {

using Places = std::vector<std::string>;

// A machine of a team, with its own index for other sources.
class Machine {
 public:
  explicit Machine(std::string url, SearchIndexOptions options = {})
      : url_(std::move(url)),
        store_(must(open_store(url_))),
        index_(must(SearchIndex::open(folder_.path() / "search.db", std::move(options)))) {}

  Store& store() { return *store_; }
  Result<bool> update_index() { return index_->update_index({url_, store_.get()}); }
  Places find_indexed(std::string_view words) {  // without indexing
    const SearchSource sources[] = {{url_, store_.get()}};
    Places places;
    for (const SearchHit& hit :
         must(index_->search(sources, {.terms = must(parse_search(words)), .limit = 1000})).hits) {
      places.push_back(cat(hit.session.id.str(), "#", hit.seq.value));
    }
    return places;
  }
  Places find(std::string_view words) {
    EXPECT_TRUE(must(update_index()));
    return find_indexed(words);
  }
  void add(std::string_view id, std::vector<Message> messages) {
    if (!must(store_->find(session_id(id)))) {
      must(store_->create(session(id)));
    }
    must(store_->append(session_id(id), std::move(messages), {}));
  }

 private:
  TemporaryFolder folder_;
  std::string url_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<SearchIndex> index_;
};

class PostgresWords : public testing::Test {
 protected:
  std::string one(std::string_view sql) const { return query(url_, sql); }
  std::string words() const { return one("SELECT count(*) FROM reprise_words"); }

  const std::string url_ = new_database();
};

std::vector<Message> many(int count, std::string_view text) {
  std::vector<Message> all;
  for (int i = 0; i < count; ++i) {
    all.push_back(user(cat(text, " number", i), at(i)));
  }
  return all;
}

TEST_F(PostgresWords, AnAppendIndexesNothingAndOneMachineIndexesForAll) {
  Machine first(url_);
  first.add("a", {user("the disk is full")});
  EXPECT_EQ(words(), "0");
  EXPECT_EQ(first.find("disk"), Places{"a#0"});
  EXPECT_EQ(words(), "1");
  Machine second(url_);
  EXPECT_EQ(second.find_indexed("disk"), Places{"a#0"});
  second.add("a", {user("another disk")});
  EXPECT_EQ(first.find("disk"), (Places{"a#1", "a#0"}));
  EXPECT_EQ(second.find_indexed("disk"), (Places{"a#1", "a#0"}));
}

// Comparing all sessions takes most of the time of a search after an append.
TEST_F(PostgresWords, AnAppendIsIndexedAndFoundInFewRoundTrips) {
  StoreStatistics statistics;
  StoreOptions options;
  options.statistics = &statistics;
  const auto store = must(open_store(url_, options));
  const TemporaryFolder folder;
  const auto index = must(SearchIndex::open(folder.path() / "search.db"));
  const SearchSource sources[] = {{url_, store.get()}};
  const auto round_trips = [&](const auto& call) {
    const std::int64_t before = statistics.counts().round_trips.count;
    call();
    return statistics.counts().round_trips.count - before;
  };
  const auto update_index = [&] { EXPECT_TRUE(must(index->update_index(sources[0]))); };
  for (int i = 0; i < 20; ++i) {
    must(store->create(session(cat("s", i))));
    must(store->append(session_id(cat("s", i)), {user("first")}, {}));
  }
  update_index();
  must(store->append(session_id("s7"), {user("second")}, {}));
  EXPECT_LE(round_trips(update_index), 7);
  EXPECT_LE(round_trips([&] {
              const SearchQuery query{.terms = must(parse_search("first"))};
              EXPECT_EQ(must(index->search(sources, query)).hits.size(), 20U);
            }),
            5);
}

TEST_F(PostgresWords, APurgeLeavesNoWordInTheTables) {
  Machine machine(url_);
  machine.add("a", {user("zanzibar common"), user("qwertz")});
  machine.add("b", {user("mombasa common")});
  EXPECT_EQ(machine.find("common").size(), 2U);
  EXPECT_EQ(one("SELECT count(*) FROM reprise_words WHERE words @@ 'zanzibar'::tsquery"), "1");
  must(Machine(url_).store().capabilities().trash->purge(session_id("a")));
  EXPECT_EQ(machine.find_indexed("zanzibar"), Places{});
  EXPECT_EQ(machine.find_indexed("common"), Places{"b#0"});
  EXPECT_EQ(one("SELECT count(*) FROM reprise_words WHERE words::text LIKE '%zanzibar%'"), "0");
  EXPECT_EQ(one("SELECT string_agg(session_id, ' ') FROM reprise_words"), "b");
  EXPECT_EQ(one("SELECT string_agg(session_id, ' ') FROM reprise_indexed"), "b");
  machine.add("a", {user("other common")});
  EXPECT_EQ(machine.find("common").size(), 2U);
}

// As if a role purged it that may not use the index.
TEST_F(PostgresWords, WordsOfPurgedSessionsAreRemovedByTheNextSearch) {
  Machine machine(url_);
  machine.add("a", {user("zanzibar")});
  machine.add("b", {user("mombasa")});
  EXPECT_EQ(machine.find("zanzibar"), Places{"a#0"});
  for (const char* const table : {"heads", "sessions", "messages", "once"}) {
    run(url_, cat("DELETE FROM reprise_", table, " WHERE session_id = 'a'"));
  }
  EXPECT_EQ(machine.find_indexed("zanzibar"), Places{});
  EXPECT_EQ(words(), "2");
  EXPECT_EQ(machine.find("zanzibar"), Places{});
  EXPECT_EQ(words(), "1");
}

TEST_F(PostgresWords, OneIndexesAndTheOthersSearchMeanwhile) {
  Machine machine(url_);
  machine.add("a", {user("word")});
  EXPECT_EQ(machine.find("word"), Places{"a#0"});
  machine.add("a", {user("word again")});
  {
    const Holder other(url_, "SELECT 1 FROM reprise_indexing FOR UPDATE");
    EXPECT_FALSE(must(machine.update_index()));
    EXPECT_EQ(machine.find_indexed("word"), Places{"a#0"});
    machine.add("a", {user("word once more")});  // nobody waits for the indexing
  }
  while (!must(machine.update_index())) {  // the server has not noticed yet that it left
  }
  EXPECT_EQ(machine.find("word"), (Places{"a#2", "a#1", "a#0"}));
}

TEST_F(PostgresWords, TwoProcessesIndexEachMessageOnce) {
  Machine machine(url_);
  for (int i = 0; i < 60; ++i) {
    machine.add(cat("s", i), many(40, "word"));
  }
  std::vector<pid_t> children;
  for (int child = 0; child < 2; ++child) {
    children.push_back(in_child([this] {
      Machine own(url_);
      while (!must(own.update_index())) {
      }
      return own.find_indexed("number7").size() == 60 ? 0 : 1;
    }));
  }
  for (const pid_t child : children) {
    EXPECT_EQ(exit_code_of(child), 0);
  }
  EXPECT_EQ(words(), "2400");
  EXPECT_EQ(one("SELECT messages FROM reprise_indexing"), "2400");
}

// A concurrent purge and indexing of the same sessions leave no words of purged messages.
TEST_F(PostgresWords, NothingPurgedIsIndexed) {
  Machine machine(url_);
  for (int i = 0; i < 40; ++i) {
    machine.add(cat("s", i), many(20, "word"));
  }
  std::jthread purging([this] {
    const auto store = must(open_store(url_));
    for (int i = 0; i < 40; ++i) {
      must(store->capabilities().trash->purge(session_id(cat("s", i))));
    }
  });
  Machine other(url_);
  for (int round = 0; round < 10; ++round) {
    must(other.update_index());
  }
  purging.join();
  EXPECT_EQ(words(), "0");
  EXPECT_EQ(one("SELECT count(*) FROM reprise_indexed"), "0");
}

TEST_F(PostgresWords, ManySessionsAreComparedByLastActivity) {
  Machine machine(url_);
  machine.add("a", {user("word", system_clock().now())});
  EXPECT_EQ(machine.find("word"), Places{"a#0"});
  run(url_,
      "INSERT INTO reprise_heads(tenant, session_id, head, branch, updated_us, state, folder)"
      " SELECT h.tenant, 'x' || n, 0, 0, 0, 0, '' FROM reprise_heads AS h,"
      " generate_series(1, 10000) AS n");
  run(url_,
      "INSERT INTO reprise_indexed(tenant, session_id, branch, next_seq, time_us)"
      " SELECT i.tenant, 'x' || n, 0, 0, 0 FROM reprise_indexed AS i,"
      " generate_series(1, 10000) AS n");
  EXPECT_EQ(machine.find("word"), Places{"a#0"});
  EXPECT_NE(one("SELECT compared_us FROM reprise_indexing"), "0");
  machine.add("old", {user("word", at(0))});
  machine.add("b", {user("word", system_clock().now())});
  EXPECT_EQ(machine.find("word"), (Places{"b#0", "a#0"}));
  run(url_, "UPDATE reprise_indexing SET compared_us = 0");
  EXPECT_EQ(machine.find("word"), (Places{"b#0", "a#0", "old#0"}));
}

// The costs of showing some messages must not depend on the number of sessions.
TEST_F(PostgresWords, ASearchDoesNotReadAllSessions) {
  {
    Machine machine(url_);
    for (int i = 0; i < 40; ++i) {
      machine.add(cat("s", i), many(50, i % 2 == 0 ? "rare" : "other"));
    }
    EXPECT_EQ(machine.find("rare").size(), 1000U);
    run(url_,
        "INSERT INTO reprise_heads(tenant, session_id, head, branch, updated_us, state, folder)"
        " SELECT 'default', 'x' || n, 0, 0, 0, 0, '' FROM generate_series(1, 20000) AS n");
    run(url_, "ANALYZE");
  }
  const std::string rows_read =
      "SELECT seq_tup_read FROM pg_stat_user_tables WHERE relname = 'reprise_heads'";
  const std::string searched =
      "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname ="
      " 'reprise_by_time'";
  const std::string before = one(rows_read);
  const std::string searched_before = one(searched);
  Machine(url_).find_indexed("rare");
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (one(searched) == searched_before && std::chrono::steady_clock::now() < end) {
  }
  EXPECT_NE(one(searched), searched_before);
  EXPECT_EQ(one(rows_read), before);
}

// Longer than half of that time, which an attempt of another operation has.
TEST_F(PostgresWords, ComparingAllSessionsMayTakeAsLongAsOtherOperations) {
  {
    Machine machine(url_);
    for (int i = 0; i < 12; ++i) {
      machine.add(cat("s", i), {user("word")});
    }
    EXPECT_EQ(machine.find("word").size(), 12U);
  }
  run(url_, "ALTER TABLE reprise_indexed RENAME TO fast");
  run(url_, "CREATE VIEW reprise_indexed AS SELECT * FROM fast WHERE pg_sleep(0.08) IS NOT NULL");
  StoreOptions options;
  options.busy_timeout = std::chrono::seconds(3);
  const auto store = must(open_store(url_, options));
  const TemporaryFolder folder;
  const auto index = must(SearchIndex::open(folder.path() / "search.db"));
  EXPECT_TRUE(works(index->update_index({url_, store.get()})));
}

TEST_F(PostgresWords, ATenantFindsItsOwnWordsOnly) {
  Machine ours(url_);
  Machine theirs(cat(url_.substr(0, url_.find('?')), "?tenant=theirs"));
  ours.add("a", {user("common zanzibar")});
  theirs.add("a", {user("common"), user("common mombasa")});
  EXPECT_EQ(ours.find("common"), Places{"a#0"});
  EXPECT_EQ(theirs.find_indexed("common"), Places{}) << "each indexes its own";
  EXPECT_EQ(theirs.find("common"), (Places{"a#1", "a#0"}));
  EXPECT_EQ(ours.find_indexed("mombasa"), Places{});
  EXPECT_EQ(theirs.find_indexed("zanzibar"), Places{});
  must(ours.store().capabilities().trash->purge(session_id("a")));
  EXPECT_EQ(theirs.find_indexed("common").size(), 2U);
}

// Both in stored words and in queries.
TEST_F(PostgresWords, HostileBytesAreWordsOrNothing) {
  Machine machine(url_);
  std::vector<Message> messages;
  for (const std::string& text : hard_texts()) {
    messages.push_back(user(text));
  }
  messages.push_back(user("it's a 'quoted\\' needle:1A,2B & !(x) <-> \x01t1 \x03long"));
  std::string hanzi;
  for (int i = 0; i < 80'000; ++i) {
    const unsigned code =
        0x4E00U + static_cast<unsigned>(i) * static_cast<unsigned>(i) / 3U % 20'000U;
    hanzi += static_cast<char>(0xE0U | code >> 12U);
    hanzi += static_cast<char>(0x80U | (code >> 6U & 0x3FU));
    hanzi += static_cast<char>(0x80U | (code & 0x3FU));
  }
  messages.push_back(user(cat("needle ", hanzi)));
  const auto count = messages.size();
  machine.add("a", std::move(messages));
  EXPECT_EQ(machine.find("needle").size(), 2U);
  EXPECT_EQ(words(), cat(count));
  for (const std::string_view words :
       {"it's needle", "'quoted needle", "needle:1A", "\"needle 1a\"", "needle -quoted"}) {
    EXPECT_EQ(machine.find_indexed(words).size(), 1U) << words;
  }
}

// Forks and rewinds: a message is indexed once and may be in several sessions.
TEST_F(PostgresWords, AMessageIsFoundWhereASessionShowsIt) {
  Machine machine(url_);
  Store& store = machine.store();
  machine.add("a", {user("one", at(1)), user("two", at(2)), user("three", at(3))});
  must(store.capabilities().forking->fork(session_id("a"), Seq{2}, session("b")));
  must(store.capabilities().forking->fork(session_id("b"), Seq{1}, session("c")));
  machine.add("b", {user("four", at(4))});
  EXPECT_EQ(machine.find("two"), Places{"a#1"});
  must(store.capabilities().rewriting->replace_suffix(session_id("a"), Seq{1},
                                                      {user("five", at(5))}, {}));
  EXPECT_EQ(machine.find("two"), Places{"b#1"});
  EXPECT_EQ(machine.find("one"), Places{"a#0"});
  EXPECT_EQ(machine.find("three"), Places{});
  must(store.capabilities().trash->trash(session_id("a"), at(6)));
  EXPECT_EQ(machine.find("one"), Places{"b#0"});
  must(store.capabilities().trash->trash(session_id("b"), at(6)));
  EXPECT_EQ(machine.find("one"), Places{"c#0"});
  EXPECT_EQ(machine.find("two"), Places{});
  EXPECT_EQ(words(), "5");
}

TEST_F(PostgresWords, ARoleThatMayNotUseTheIndexSearchesItsOwn) {
  must(open_store(url_));
  const std::string role = cat("r", url_.substr(url_.rfind('/') + 2, 12));
  run(url_, cat("CREATE ROLE ", role, " LOGIN"));
  run(url_, cat("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ", role));
  run(url_, cat("REVOKE ALL ON reprise_words, reprise_indexed, reprise_indexing FROM ", role));
  std::string plain = url_;
  plain.replace(plain.find("reprise@"), 7, role);
  {
    Machine machine(plain);
    EXPECT_EQ(machine.store().capabilities().word_index, nullptr);
    machine.add("a", {user("zanzibar")});
    machine.add("b", {user("mombasa")});
    EXPECT_EQ(machine.find("zanzibar"), Places{"a#0"});
    EXPECT_EQ(Machine(url_).find("zanzibar"), Places{"a#0"}) << "of a role that may";
    must(machine.store().capabilities().trash->purge(session_id("a")));
    EXPECT_EQ(machine.find("mombasa"), Places{"b#0"});
    EXPECT_EQ(words(), "2");
  }
  run(url_, cat("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ", role));
  Machine machine(plain);
  ASSERT_NE(machine.store().capabilities().word_index, nullptr);
  EXPECT_EQ(machine.find("mombasa"), Places{"b#0"});
  EXPECT_EQ(words(), "1") << "those of the purged session are gone";
}

TEST_F(PostgresWords, AReaderIndexesToo) {
  Machine(url_).add("a", {user("word")});
  const TemporaryFolder folder;
  const auto store = must(open_store(url_, {.access = Access::read}));
  const auto index = must(SearchIndex::open(folder.path() / "search.db"));
  EXPECT_TRUE(must(index->update_index({url_, store.get()})));
  EXPECT_EQ(words(), "1");
}

}  // namespace
}  // namespace reprise::test
