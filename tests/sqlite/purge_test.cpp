// Purging: what goes, what it costs, and what others have just stored beside it.

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "reprise/environment.h"
#include "reprise/error.h"
#include "reprise/message.h"
#include "reprise/open_store.h"
#include "reprise/store.h"
#include "reprise/store_offers.h"
#include "reprise/types.h"
#include "sqlite/sqlite_support.h"
#include "support/build.h"
#include "support/child.h"
#include "support/must.h"
#include "support/temporary_folder.h"

namespace reprise::test {
namespace {

namespace fs = std::filesystem;

Message showing(const BlobHash& hash) {
  Message message = user("see");
  message.blocks.emplace_back(ImageBlock{"image/png", hash, "", {}});
  return message;
}

class LaterClock final : public Clock {
 public:
  Time now() override { return system_clock().now() + later; }
  std::chrono::hours later{0};
};

// The virtual machine's steps of all statements of this process, from now on.
std::int64_t steps_taken = 0;

int count_steps(unsigned /*what*/, void* /*context*/, void* statement, void* /*time*/) {
  steps_taken += sqlite3_stmt_status(static_cast<sqlite3_stmt*>(statement),
                                     SQLITE_STMTSTATUS_VM_STEP, /*reset=*/1);
  return 0;
}

int count_steps_of(sqlite3* handle, char** /*error*/, const sqlite3_api_routines* /*api*/) {
  return sqlite3_trace_v2(handle, SQLITE_TRACE_PROFILE, count_steps, nullptr);
}

class SqlitePurge : public testing::Test {
 protected:
  std::unique_ptr<Store> open() { return open_at(file_, {.clock = &clock_}); }
  std::vector<std::string> damage() {
    std::vector<std::string> found;
    for (const Damage& part : must(open()->offers().repair->verify()).damage) {
      found.push_back(cat(part.where, ": ", part.reason));
    }
    return found;
  }

  LaterClock clock_;
  TemporaryFolder folder_;
  fs::path file_ = folder_.path() / "r.db";
};

TEST_F(SqlitePurge, CostsWhatTheSessionHasAndNotTheStore) {
  const auto hook = reinterpret_cast<void (*)()>(count_steps_of);
  sqlite3_auto_extension(hook);
  std::vector<std::int64_t> costs;
  for (const int others : {20, 500}) {
    const fs::path file = folder_.path() / cat(others, ".db");
    clock_.later = std::chrono::hours(0);
    const auto store = open_at(file, {.clock = &clock_});
    Blobs& blobs = *store->offers().blobs;
    for (int i = 0; i < others; ++i) {
      const SessionId id = session_id(cat("s", i));
      must(store->offers().beginning->begin(session(id.str())));
      must(store->append(id, {showing(must(blobs.put_blob(cat("blob ", i))))},
                         {.durability = Durability::os}));
    }
    must(store->create(session("one")));
    must(store->append(session_id("one"), {showing(must(blobs.put_blob("one")))}, {}));
    clock_.later = kBlobPinned + std::chrono::hours(1);
    for (int i = 0; i < others / 10; ++i) {
      must(blobs.put_blob("again"));  // looks at some of the others each time
    }
    steps_taken = 0;
    must(store->offers().trash->purge(session_id("one")));
    costs.push_back(steps_taken);
  }
  sqlite3_cancel_auto_extension(hook);
  EXPECT_GT(costs[0], 0);
  EXPECT_LT(costs[1], costs[0] + 500);
}

// One that puts blobs and names them, one that makes sessions with the same blobs and purges them.
TEST_F(SqlitePurge, LeavesAloneWhatAnotherProcessIsAboutToName) {
  constexpr int kRounds = 40;
  must(open()->create(session("writer")));
  const auto result = [](int round) { return cat("result ", round % 4, std::string(70'000, 'x')); };
  std::array<int, 2> to_writer{};
  std::array<int, 2> from_writer{};
  ASSERT_EQ(::pipe(to_writer.data()) | ::pipe(from_writer.data()), 0);
  const pid_t writer = in_child([&] {
    const auto store = must(open_sqlite_store(file_));
    char word = 0;
    for (int round = 0; round < kRounds; ++round) {
      const BlobHash hash = must(store->offers().blobs->put_blob(result(round)));
      if (::write(from_writer[1], "p", 1) != 1 || ::read(to_writer[0], &word, 1) != 1) {
        return 1;
      }
      must(store->append(session_id("writer"), {showing(hash)}, {}));
    }
    return 0;
  });
  const auto store = open();
  char word = 0;
  for (int round = 0; round < kRounds; ++round) {
    const BlobHash same = must(store->offers().blobs->put_blob(result(round)));
    must(store->create(session("old")));
    must(store->append(session_id("old"), {showing(same)}, {}));
    ASSERT_EQ(::read(from_writer[0], &word, 1), 1);
    must(store->offers().trash->purge(session_id("old")));
    ASSERT_EQ(::write(to_writer[1], "n", 1), 1);
  }
  EXPECT_EQ(exit_code_of(writer), 0);
  for (const int end : {to_writer[0], to_writer[1], from_writer[0], from_writer[1]}) {
    ::close(end);
  }
  EXPECT_EQ(damage(), std::vector<std::string>{});
}

TEST_F(SqlitePurge, PinsWhatAnEarlierProgramHasPut) {
  must(open()->create(session("old")));
  PlainDatabase(file_).run(
      "DROP TRIGGER reprise_blob_unnamed; DROP TABLE reprise_pins;"
      "DROP INDEX reprise_by_hash;"
      "INSERT INTO reprise_blobs(hash, n, bytes) VALUES('"
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad', 0,"
      " CAST('abc' AS BLOB))");
  const auto there = [&] {
    return PlainDatabase(file_).rows("SELECT count(*) FROM reprise_blobs").at(0);
  };
  must(open()->offers().trash->purge(session_id("old")));
  EXPECT_EQ(there(), "1");
  clock_.later = kBlobPinned + std::chrono::hours(1);
  must(open()->create(session("old")));
  must(open()->offers().trash->purge(session_id("old")));
  EXPECT_EQ(there(), "0");
}

TEST_F(SqlitePurge, CollectsWhatTheOriginalProgramLeavesWithoutAName) {
  const auto store = open();
  must(store->create(session("one")));
  must(store->create(session("two")));
  const BlobHash hash = must(store->offers().blobs->put_blob("picture"));
  must(store->append(session_id("one"), {showing(hash)}, {}));
  clock_.later = kBlobPinned + std::chrono::hours(1);
  must(store->offers().blobs->put_blob("another"));
  PlainDatabase plain(file_);
  plain.run("DELETE FROM sessions WHERE id = 'one'");
  must(store->offers().trash->purge(session_id("two")));
  EXPECT_EQ(plain.rows("SELECT count(*) FROM reprise_blobs"), std::vector<std::string>{"1"});
}

}  // namespace
}  // namespace reprise::test
