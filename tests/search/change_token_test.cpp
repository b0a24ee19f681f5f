// An unchanged source is not listed again; one that reports its changes is never listed.

#include "search/change_token.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <random>

#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "reprise/search.h"
#include "search/search_fixture.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise {
namespace {

using test::CountingSource;
using test::must;

// Sets the times as if nothing had been written for an hour.
void let_time_pass(const std::filesystem::path& file) {
  for (const std::string_view part : {"", "-wal"}) {
    struct stat state{};
    const std::string name = cat(file.native(), part);
    ASSERT_EQ(::stat(name.c_str(), &state), 0);
    const timespec times[2] = {{state.st_atim.tv_sec, 0}, {state.st_mtim.tv_sec - 3600, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, name.c_str(), times, 0), 0);
  }
}

TEST(SearchMarks, DoesNotListUnchangedSources) {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "reprise.db";
  const auto store = must(open_sqlite_store(file));
  must(store->create(test::session("a")));
  must(store->append(test::session_id("a"), {test::user("one")}, {}));
  CountingSource source(*store);
  source.capabilities_for_test().change_reader = nullptr;
  const std::string url = "sqlite:" + file.native();
  const SearchSource sources[] = {{url, &source}};
  const auto index = must(SearchIndex::open(folder.path() / "state" / "search.db"));
  const auto find = [&](std::string_view words) {
    EXPECT_TRUE(must(index->update_index(sources[0])));
    return must(index->search(sources, {.terms = must(parse_search(words))})).hits.size();
  };
  EXPECT_EQ(search::change_token(url), "");  // just written
  EXPECT_EQ(find("one"), 1U);
  EXPECT_EQ(find("one"), 1U);
  EXPECT_EQ(source.lists, 2);
  let_time_pass(file);
  EXPECT_NE(search::change_token(url), "");
  EXPECT_EQ(find("one"), 1U);
  EXPECT_EQ(source.lists, 3);
  EXPECT_EQ(find("one"), 1U);
  EXPECT_EQ(source.lists, 3);
  must(store->append(test::session_id("a"), {test::user("two")}, {}));
  EXPECT_EQ(find("two"), 1U);
  EXPECT_EQ(source.lists, 4);
  let_time_pass(file);
  EXPECT_EQ(find("two"), 1U);
  must(index->forget(url, std::vector{test::session_id("b")}));
  must(store->capabilities().trash->trash(test::session_id("a"), test::at(5)));
  EXPECT_EQ(find("two"), 0U);
}

using HitIds = std::vector<std::string>;

// An SQLite store, and an index that follows its changes.
class SearchChanges : public testing::Test {
 protected:
  SearchChanges() : store_(must(open_sqlite_store(folder_.path() / "reprise.db"))) {}

  SessionId create(std::string_view id, std::vector<Message> messages) {
    must(store_->create(test::session(id)));
    must(store_->append(test::session_id(id), std::move(messages), {}));
    return test::session_id(id);
  }
  void append(const SessionId& id, std::string_view text) {
    must(store_->append(id, {test::user(text)}, {}));
  }
  const Capabilities& can() { return store_->capabilities(); }

  // "ID#SEQ" of the matches, sorted.
  HitIds find(SearchIndex& index, std::string_view words,
              std::optional<std::string> folder = std::nullopt) {
    const SearchSource sources[] = {
        {"sqlite:" + (folder_.path() / "reprise.db").native(), &source_}};
    EXPECT_TRUE(must(index.update_index(sources[0])));
    HitIds hit_ids;
    for (const SearchHit& hit : must(index.search(sources, {.terms = must(parse_search(words)),
                                                            .working_dir = std::move(folder),
                                                            .limit = kPageMax}))
                                    .hits) {
      hit_ids.push_back(cat(hit.session.id.str(), "#", hit.seq.value));
    }
    std::ranges::sort(hit_ids);
    return hit_ids;
  }
  HitIds find(std::string_view words) { return find(*index_, words); }
  std::unique_ptr<SearchIndex> open_index(std::string_view name) {
    return must(SearchIndex::open(folder_.path() / name / "search.db"));
  }

  test::TemporaryFolder folder_;
  std::unique_ptr<Store> store_;
  CountingSource source_{*store_};
  std::unique_ptr<SearchIndex> index_ = open_index("state");
};

TEST_F(SearchChanges, AreIndexedWithoutListing) {
  create("filler", test::messages(20));  // so that the shard remains
  const SessionId a = create("a", {test::user("one"), test::user("two")});
  EXPECT_EQ(find("one"), HitIds{"a#0"});
  EXPECT_EQ(source_.lists, 1);
  append(a, "three");
  EXPECT_EQ(find("three"), HitIds{"a#2"});
  must(store_->create(test::session("old", test::at(-1000))));
  must(store_->append(test::session_id("old"), {test::user("ancient", test::at(-999))}, {}));
  EXPECT_EQ(find("ancient"), HitIds{"old#0"});
  must(can().rewriting->replace_suffix(a, {1}, {test::user("instead")}, {}));
  EXPECT_EQ(find("two"), HitIds{});
  EXPECT_EQ(find("instead"), HitIds{"a#1"});
  must(can().forking->fork(a, {1}, test::session("fork")));
  append(test::session_id("fork"), "branched");
  EXPECT_EQ(find("branched"), HitIds{"fork#1"});
  EXPECT_EQ(find("one"), HitIds{"a#0"});
  EXPECT_EQ(source_.lists, 1);
}

TEST_F(SearchChanges, OfTheTrashAreIndexedWithoutListing) {
  create("filler", test::messages(20));  // so that the shard remains
  const SessionId a = create("a", {test::user("one")});
  const SessionId b = create("b", {test::user("one")});
  must(can().forking->fork(a, {1}, test::session("fork")));
  must(can().trash->trash(b, test::at(5)));
  EXPECT_EQ(find("one"), HitIds{"a#0"});
  must(can().trash->trash(a, test::at(5)));
  EXPECT_EQ(find("one"), HitIds{"fork#0"}) << "what it shared is found there now";
  must(can().trash->restore(b));
  EXPECT_EQ(find("one"), (HitIds{"b#0", "fork#0"})) << "it was not indexed before";
  must(can().trash->restore(a));
  EXPECT_EQ(find("one"), (HitIds{"a#0", "b#0"})) << "once";
  EXPECT_EQ(source_.lists, 1);
}

// Until then they are found in the origin.
TEST_F(SearchChanges, SharedMessagesThatTheOriginLosesAreFoundInTheFork) {
  const SessionId a = create("a", {test::user("one"), test::user("two"), test::user("three")});
  must(can().forking->fork(a, {3}, test::session("f")));
  append(test::session_id("f"), "four");
  EXPECT_EQ(find("three"), HitIds{"a#2"});
  must(can().rewriting->replace_suffix(a, {1}, {}, {}));
  EXPECT_EQ(find("three"), HitIds{"f#2"});
  EXPECT_EQ(find("four"), HitIds{"f#3"});
}

// What a purge removed from the index with another session is not indexed twice.
TEST_F(SearchChanges, AMovedSessionIsIndexedOnceAfterAPurge) {
  const SessionId a = create("a", {test::user("purged")});
  const SessionId b = create("b", {test::user("one"), test::user("two")});
  EXPECT_EQ(find("one"), HitIds{"b#0"});
  must(can().trash->purge(a));
  must(index_->forget("sqlite:" + (folder_.path() / "reprise.db").native(), std::vector{a}));
  must(store_->update(b, {.working_dir = "/moved"}));
  EXPECT_EQ(find("one"), HitIds{"b#0"});
  EXPECT_EQ(find(*index_, "two", "/moved"), HitIds{"b#1"});
}

TEST_F(SearchChanges, PurgedSessionsLeaveNoBytes) {
  create("a", {test::user("one")});
  const SessionId b = create("b", {test::user("zebrafish")});
  EXPECT_EQ(find("zebrafish"), HitIds{"b#0"});
  must(can().trash->purge(b));
  create("c", {test::user("other")});  // in its rows
  EXPECT_EQ(find("zebrafish"), HitIds{});
  EXPECT_EQ(find("one"), HitIds{"a#0"});
  EXPECT_EQ(source_.lists, 2);
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path() / "state")) {
    EXPECT_EQ(must(read_file(entry.path())).find("zebraf"), std::string::npos) << entry.path();
  }
}

// After any changes of the store, the index finds the same as a new one.
TEST_F(SearchChanges, GiveTheSameIndexAsANewOne) {
  std::mt19937 random(5);
  int count = 0;
  const auto change = [&] {
    const auto sessions =
        must(store_->list({.states = {SessionState::active, SessionState::trashed}})).sessions;
    if (sessions.size() < 3 || random() % 5 == 0) {
      ++count;
      create(cat("s", count), {test::user("all first"), test::user(cat("all w", count % 7))});
      return;
    }
    const SessionId id = sessions[random() % sessions.size()].id;
    const Seq seq{static_cast<std::int64_t>(random() % 6)};
    switch (random() % 9) {
      case 0:
        (void)can().rewriting->replace_suffix(id, seq, {test::user(cat("all r", count++))}, {});
        return;
      case 1:
        (void)can().forking->fork(id, seq, test::session(cat("f", count++)));
        return;
      case 2:
      case 3:
        (void)can().trash->trash(id, test::at(5));
        return;
      case 4:
      case 5:
        (void)can().trash->restore(id);
        return;
      case 6:
        (void)(random() % 4 == 0 ? can().trash->purge(id) : Result<>());
        return;
      case 7:
        (void)store_->update(id, {.working_dir = cat("/", random() % 3)});
        return;
      default:
        (void)store_->append(id, {test::user(cat("all w", count++ % 7))}, {});
    }
  };
  for (int round = 0; round < 40; ++round) {
    for (auto i = random() % 3; i < 3; ++i) {
      change();
    }
    const auto fresh = open_index(cat("fresh", round));
    for (const std::string_view words : {"all", "w1 all", "first"}) {
      EXPECT_EQ(find(words), find(*fresh, words)) << round;
    }
    for (const std::string_view folder : {"/0", "/1"}) {
      EXPECT_EQ(find(*index_, "all", std::string(folder)), find(*fresh, "all", std::string(folder)))
          << round;
    }
  }
}

}  // namespace
}  // namespace reprise
