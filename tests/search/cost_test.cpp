// The costs of the index, in steps and allocations of SQLite and segments of FTS5.

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "reprise/search.h"
#include "search/search_fixture.h"
#include "store/sqlite/connection.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise {
namespace {

using test::must;

std::int64_t steps = 0;

int add_steps(unsigned /*kind*/, void* /*data*/, void* statement, void* /*nanoseconds*/) {
  steps += sqlite3_stmt_status(static_cast<sqlite3_stmt*>(statement), SQLITE_STMTSTATUS_VM_STEP, 1);
  return 0;
}

int count_steps_of(sqlite3* connection, char** /*message*/, const void* /*functions*/) {
  return sqlite3_trace_v2(connection, SQLITE_TRACE_PROFILE, add_steps, nullptr);
}

// The size of SQLite's largest allocation since the last call.
std::int64_t largest_allocation() {
  sqlite3_int64 now = 0;
  sqlite3_int64 largest = 0;
  sqlite3_status64(SQLITE_STATUS_MALLOC_SIZE, &now, &largest, 1);
  return largest;
}

// Counts the steps of all connections that are opened during its lifetime.
class StepCounter {
 public:
  StepCounter() { sqlite3_auto_extension(kExtension); }
  ~StepCounter() { sqlite3_cancel_auto_extension(kExtension); }
  StepCounter(const StepCounter&) = delete;
  StepCounter& operator=(const StepCounter&) = delete;

 private:
  static inline const auto kExtension = reinterpret_cast<void (*)()>(count_steps_of);
};

void add_sessions(Store& store, int count) {
  for (int i = 0; i < count; ++i) {
    const std::string id = cat("s", i);
    must(store.capabilities().deferred_creation->begin(test::session(id)));
    must(store.append(test::session_id(id), {test::user("one")}, {.durability = Durability::os}));
  }
}

std::int64_t segments_in(const std::filesystem::path& file) {
  const auto db = must(sqlite::Connection::open(file, sqlite::OpenMode::read, {}));
  return must(db->integer("SELECT count(DISTINCT segid) FROM words_1_idx"));
}

TEST(SearchCosts, UpdatesReadOnlyChangedSessions) {
  constexpr int kSessions = 400;
  const test::TemporaryFolder folder;
  const StepCounter counter;
  const auto file = folder.path() / "reprise.db";
  const auto store = must(open_sqlite_store(file));
  add_sessions(*store, kSessions);
  const SearchSource source{"sqlite:" + file.native(), store.get()};
  const auto index = must(SearchIndex::open(folder.path() / "search.db"));
  EXPECT_TRUE(must(index->update_index(source)));
  must(store->append(test::session_id("s0"), {test::user("two")}, {}));
  steps = 0;
  EXPECT_TRUE(must(index->update_index(source)));
  EXPECT_GT(steps, 0);
  EXPECT_LT(steps, 5 * kSessions) << "it reads the rows of all sessions";
}

TEST(SearchCosts, APrefixDoesNotLoadAllOccurrences) {
  const test::TemporaryFolder folder;
  const auto store = open_memory_store();
  const SearchSource sources[] = {{"memory:", store.get()}};
  std::string text;
  for (int i = 0; i < 100; ++i) {
    text += "common ";
  }
  std::vector<Message> messages = test::messages(2000);
  for (Message& message : messages) {
    message = test::user(text, message.created_at);
  }
  must(store->create(test::session("a")));
  must(store->append(test::session_id("a"), std::move(messages), {}));
  const auto index = must(SearchIndex::open(folder.path() / "search.db"));
  EXPECT_TRUE(must(index->update_index(sources[0])));
  largest_allocation();
  const SearchQuery query{.terms = must(parse_search("comm*")), .limit = 1};
  EXPECT_EQ(must(index->search(sources, query)).hits.size(), 1U);
  EXPECT_LT(largest_allocation(), 100'000);
}

TEST(SearchCosts, LargeBatchesAreMergedAtTheEnd) {
  constexpr int kMessages = 5000;
  const test::TemporaryFolder folder;
  const auto store = open_memory_store();
  const SearchSource source{"memory:", store.get()};
  const auto file = folder.path() / "search.db";
  const auto index = must(SearchIndex::open(file));
  must(store->create(test::session("a")));
  for (int i = 0; i < 2; ++i) {
    must(store->append(test::session_id("a"), test::messages(kMessages, cat("batch", i)), {}));
    EXPECT_TRUE(must(index->update_index(source)));
  }
  EXPECT_EQ(segments_in(file), 1);
}

TEST(SearchCosts, MessagesOfAnotherSourceAreNotRead) {
  const test::TemporaryFolder folder;
  const auto store = open_memory_store();
  must(store->create(test::session("a")));
  must(store->append(test::session_id("a"), test::messages(100, "word"), {}));
  test::CountingSource source(*store);
  const SearchSource sources[] = {
      {"memory:", &source, [](const SessionId& /*id*/) { return Seq{99}; }}};
  const auto index = must(SearchIndex::open(folder.path() / "search.db"));
  EXPECT_TRUE(must(index->update_index(sources[0])));
  source.reads = 0;
  EXPECT_EQ(must(index->search(sources, {.terms = must(parse_search("word"))})).hits.size(), 1U);
  EXPECT_EQ(source.reads, 1);
}

}  // namespace
}  // namespace reprise
