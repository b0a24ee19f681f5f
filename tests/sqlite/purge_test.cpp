// Purging: what is removed, its cost, and concurrent writes of others.

#include "store/sqlite/purge.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "base/encode.h"
#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "sqlite/sqlite_support.h"
#include "store/sqlite/connection.h"
#include "support/build.h"
#include "support/child.h"
#include "support/must.h"
#include "support/small_disk.h"

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

// Counts the virtual machine's steps of all statements of this process.
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
    for (const Damage& part : must(open()->capabilities().repair->verify()).damage) {
      found.push_back(cat(part.where, ": ", part.reason));
    }
    return found;
  }

  LaterClock clock_;
  TemporaryFolder folder_;
  fs::path file_ = folder_.path() / "r.db";
};

TEST_F(SqlitePurge, CostDependsOnTheSessionNotOnTheStore) {
  const auto hook = reinterpret_cast<void (*)()>(count_steps_of);
  sqlite3_auto_extension(hook);
  std::vector<std::int64_t> costs;
  for (const int others : {20, 500}) {
    const fs::path file = folder_.path() / cat(others, ".db");
    clock_.later = std::chrono::hours(0);
    const auto store = open_at(file, {.clock = &clock_});
    Blobs& blobs = *store->capabilities().blobs;
    for (int i = 0; i < others; ++i) {
      const SessionId id = session_id(cat("s", i));
      must(store->capabilities().deferred_creation->begin(session(id.str())));
      must(store->append(id, {showing(must(blobs.put_blob(cat("blob ", i))))},
                         {.durability = Durability::os}));
    }
    must(store->create(session("one")));
    must(store->append(session_id("one"), {showing(must(blobs.put_blob("one")))}, {}));
    clock_.later = kBlobPinned + std::chrono::hours(1);
    for (int i = 0; i < others / 10; ++i) {
      must(blobs.put_blob("again"));  // examines some of the others each time
    }
    steps_taken = 0;
    must(store->capabilities().trash->purge(session_id("one")));
    costs.push_back(steps_taken);
  }
  sqlite3_cancel_auto_extension(hook);
  EXPECT_GT(costs[0], 0);
  EXPECT_LT(costs[1], costs[0] + 500);
}

// One process puts blobs and references them; the other creates sessions with the same blobs and
// purges them.
TEST_F(SqlitePurge, KeepsBlobsThatAnotherProcessIsAboutToReference) {
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
      const BlobHash hash = must(store->capabilities().blobs->put_blob(result(round)));
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
    const BlobHash same = must(store->capabilities().blobs->put_blob(result(round)));
    must(store->create(session("old")));
    must(store->append(session_id("old"), {showing(same)}, {}));
    ASSERT_EQ(::read(from_writer[0], &word, 1), 1);
    must(store->capabilities().trash->purge(session_id("old")));
    ASSERT_EQ(::write(to_writer[1], "n", 1), 1);
  }
  EXPECT_EQ(exit_code_of(writer), 0);
  for (const int end : {to_writer[0], to_writer[1], from_writer[0], from_writer[1]}) {
    ::close(end);
  }
  EXPECT_EQ(damage(), std::vector<std::string>{});
}

TEST_F(SqlitePurge, CollectsBlobsUnreferencedByTheOriginal) {
  const auto store = open();
  must(store->create(session("one")));
  must(store->create(session("two")));
  const BlobHash hash = must(store->capabilities().blobs->put_blob("picture"));
  must(store->append(session_id("one"), {showing(hash)}, {}));
  clock_.later = kBlobPinned + std::chrono::hours(1);
  must(store->capabilities().blobs->put_blob("another"));
  PlainDatabase plain(file_);
  plain.run("DELETE FROM sessions WHERE id = 'one'");
  must(store->capabilities().trash->purge(session_id("two")));
  EXPECT_EQ(plain.rows("SELECT count(*) FROM reprise_blobs"), std::vector<std::string>{"1"});
}

// The original program forks by copying rows.
constexpr std::string_view kForkByTheOriginal =
    "INSERT INTO sessions(id, model, forked_from) VALUES('%2', 'm', '%1');"
    "INSERT INTO messages(session_id, seq, role, content)"
    " SELECT '%2', seq, role, content FROM messages WHERE session_id = '%1'";

void fork_by_the_original(PlainDatabase& plain, const std::string& parent, const std::string& id) {
  std::string sql(kForkByTheOriginal);
  for (std::size_t at = sql.find('%'); at != std::string::npos; at = sql.find('%', at)) {
    sql.replace(at, 2, sql[at + 1] == '1' ? parent : id);
  }
  plain.run(sql);
}

TEST_F(SqlitePurge, KeepsBlobsOfForksByTheOriginal) {
  const auto store = open();
  must(store->create(session("one")));
  const BlobHash hash = must(store->capabilities().blobs->put_blob("picture"));
  must(store->append(session_id("one"), {showing(hash)}, {}));
  {
    PlainDatabase plain(file_);
    fork_by_the_original(plain, "one", "two");
    fork_by_the_original(plain, "two", "three");
  }
  clock_.later = kBlobPinned + std::chrono::hours(1);
  must(store->capabilities().trash->purge(session_id("one")));
  must(store->capabilities().trash->purge(session_id("two")));
  EXPECT_TRUE(
      works(store->capabilities().blobs->read_blob(hash, [](auto) { return Flow::proceed; })));
  EXPECT_EQ(damage(), std::vector<std::string>{});
  must(store->capabilities().trash->purge(session_id("three")));
  EXPECT_EQ(PlainDatabase(file_).rows("SELECT count(*) FROM reprise_blobs").at(0), "0");
}

TEST_F(SqlitePurge, VerifyFindsBlobsThatOnlyMessagesName) {
  const auto store = open();
  must(store->create(session("one")));
  const BlobHash hash = must(store->capabilities().blobs->put_blob("picture"));
  must(store->append(session_id("one"), {showing(hash)}, {}));
  PlainDatabase(file_).run("DELETE FROM reprise_blob_refs; DELETE FROM reprise_blobs");
  EXPECT_EQ(damage(), std::vector<std::string>{
                          cat("r.db: blob ", hash.str(), ": messages name it, but it is missing")});
}

// The files of the folder that contain the text.
std::vector<std::string> files_with(const fs::path& folder, std::string_view text) {
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (bytes_of(entry.path()).find(text) != std::string::npos) {
      found.push_back(entry.path().filename());
    }
  }
  return found;
}

std::vector<std::string> places_of(const std::vector<Remnant>& remnants) {
  std::vector<std::string> places;
  for (const Remnant& one : remnants) {
    places.push_back(fs::path(one.where).filename());
  }
  return places;
}

constexpr std::string_view kWord = "unforgettable";

void fill_with_words(Store& store, const SessionId& id) {
  Session session = test::session(id.str());
  session.info.title = session.system_prompt = kWord;
  must(store.create(session));
  Message large = showing(must(store.capabilities().blobs->put_blob(std::string(kWord) + " blob")));
  must(store.append(id, {user(kWord), large, user(std::string(50'000, 'x') + std::string(kWord))},
                    {}));
  must(store.capabilities().rewriting->replace_suffix(id, {2}, {user(kWord)}, {}));
  must(store.capabilities().artefacts->save_artefact(id, {1}, "answer", kWord));
}

TEST_F(SqlitePurge, RemovesTheTextFromAllFiles) {
  const auto store = open();
  fill_with_words(*store, session_id("s"));
  for (int i = 0; i < 100; ++i) {
    const BlobHash blob = must(store->capabilities().blobs->put_blob(cat(kWord, i)));
    must(store->append(session_id("s"), {showing(blob)}, {.durability = Durability::os}));
  }
  EXPECT_FALSE(files_with(folder_.path(), kWord).empty());
  clock_.later = kBlobPinned + std::chrono::hours(1);
  must(store->capabilities().trash->purge(session_id("s")));
  EXPECT_EQ(files_with(folder_.path(), kWord), std::vector<std::string>{});
  EXPECT_EQ(must(store->capabilities().trash->remnants()), std::vector<Remnant>{});
}

TEST_F(SqlitePurge, ReportsFilesThatStillHaveTheText) {
  const auto store = open();
  fill_with_words(*store, session_id("s"));
  must(store->create(session("other")));
  std::ofstream(file_.string() + ".v3-20260118T201530Z.bak") << kWord;
  {
    PlainDatabase reading(file_);
    reading.run("BEGIN; SELECT count(*) FROM sessions");
    must(store->capabilities().trash->purge(session_id("s")));
    EXPECT_EQ(places_of(must(store->capabilities().trash->remnants())),
              (std::vector<std::string>{"r.db-wal", "r.db.v3-20260118T201530Z.bak", "r.db"}));
  }
  EXPECT_EQ(places_of(must(store->capabilities().trash->remnants())),
            (std::vector<std::string>{"r.db.v3-20260118T201530Z.bak", "r.db"}))
      << "the reader has gone";
  fs::remove(file_.string() + ".v3-20260118T201530Z.bak");
  clock_.later = kBlobPinned + std::chrono::hours(1);
  must(store->capabilities().trash->purge(session_id("other")));
  EXPECT_EQ(must(store->capabilities().trash->remnants()), std::vector<Remnant>{});
  EXPECT_EQ(files_with(folder_.path(), kWord), std::vector<std::string>{});
}

TEST_F(SqlitePurge, LeavesNoCopiesOfDeadProcesses) {
  must(open()->create(session("s")));
  const pid_t gone = in_child([] { return 0; });
  EXPECT_EQ(exit_code_of(gone), 0);
  const std::string old_name = cat("r.db.v0-20260118T201530Z.bak.", gone, ".1.tmp");
  for (const std::string& name :
       {std::string("r.db.reprise-0.tmp"), old_name, cat("other.db.", gone, ".1.tmp"),
        cat("r.db.", getpid(), "x.tmp")}) {
    std::ofstream(folder_.path() / name) << kWord;
  }
  must(open()->create(session("t")));
  EXPECT_EQ(files_with(folder_.path(), kWord).size(), 2U) << "those of others";
}

// Rows of two tables have the same rowid: progress in one must not count for the other.
TEST_F(SqlitePurge, RemovesTheTextFromEachTableInSteps) {
  const SessionId id = session_id("s");
  {
    const auto store = open();
    must(store->create(session(id.str())));
    must(store->append(id, {user(std::string(1'500'000, 'x'))}, {}));
    std::string words;
    while (words.size() < 200'000) {
      words += kWord;
    }
    must(store->capabilities().artefacts->save_artefact(id, {1}, "answer", words));
  }
  const auto connection =
      must(sqlite::Connection::open(file_, sqlite::OpenMode::write, std::chrono::seconds(1)));
  must(connection->script("PRAGMA secure_delete=ON"));  // like every writer
  sqlite::PurgeSteps steps(id, clock_);
  must(steps.hide(*connection));
  while (must(steps.step(*connection))) {
  }
  must(sqlite::delete_session(*connection, id, clock_));
  must(connection->script("PRAGMA wal_checkpoint(TRUNCATE)"));
  EXPECT_EQ(files_with(folder_.path(), kWord), std::vector<std::string>{});
}

// The pages of a large message are freed without overwriting them again; its neighbours' are not.
TEST_F(SqlitePurge, RemovesTheTextBesideALargeMessageInSteps) {
  constexpr std::string_view kOther = "memorable";
  {
    const auto store = open();
    must(store->create(session("s")));
    must(store->create(session("other")));
    for (const std::size_t size : {3'000U, 1'500'000U, 200U, 900'000U, 2'000U}) {
      must(store->append(session_id("s"), {user(std::string(kWord) + std::string(size, 'x'))}, {}));
      must(store->append(session_id("other"), {user(std::string(kOther))}, {}));
    }
  }
  {
    const auto connection =
        must(sqlite::Connection::open(file_, sqlite::OpenMode::write, std::chrono::seconds(1)));
    must(connection->script("PRAGMA secure_delete=ON"));
    sqlite::PurgeSteps steps(session_id("s"), clock_);
    must(steps.hide(*connection));
    while (must(steps.step(*connection))) {
    }
    must(sqlite::delete_session(*connection, session_id("s"), clock_));
    must(connection->script("PRAGMA wal_checkpoint(TRUNCATE)"));
  }
  EXPECT_EQ(files_with(folder_.path(), kWord), std::vector<std::string>{});
  EXPECT_FALSE(files_with(folder_.path(), kOther).empty());
  must(open()->capabilities().trash->purge(session_id("other")));
  EXPECT_EQ(files_with(folder_.path(), kOther), std::vector<std::string>{});
}

// The process was killed after some steps: the remainder is in the trash, is reported, cannot be
// restored, and is removed by the next purge.
TEST_F(SqlitePurge, CompletesAPurgeWhoseStepsWereInterrupted) {
  const SessionId id = session_id("s");
  std::int64_t all = 0;
  {
    const auto store = open();
    must(store->create(session(id.str())));
    must(store->create(session("other")));
    for (int i = 0; i < 8; ++i) {
      const std::string words = cat(kWord, std::string(i == 4 ? 900'000 : 90'000, 'x'));
      all = must(store->append(id, {user(words)}, {})).head.value;
    }
  }
  const auto interrupted = [&](int count) {
    const auto connection =
        must(sqlite::Connection::open(file_, sqlite::OpenMode::write, std::chrono::seconds(1)));
    must(connection->script("PRAGMA secure_delete=ON"));
    sqlite::PurgeSteps steps(id, clock_);
    must(steps.hide(*connection));
    for (int i = 0; i < count; ++i) {
      ASSERT_TRUE(must(steps.step(*connection)));
    }
  };
  for (const int count : {0, 1, 3}) {  // also within the long message
    interrupted(count);
    const Session left = must(get(*open(), id));
    EXPECT_EQ(left.info.state, SessionState::trashed);
    EXPECT_EQ(left.info.head.value < all, count > 0);
    const auto restored = open()->capabilities().trash->restore(id);
    ASSERT_FALSE(restored);
    EXPECT_EQ(restored.error().code, Code::conflict);
    EXPECT_EQ(restored.error().message, "session s is partly removed: purge it again");
    const std::vector<std::string> found = damage();
    EXPECT_EQ(std::ranges::count(
                  found, "r.db: sessions row 1: session s is partly removed: purge it again"),
              1);
    EXPECT_EQ(found.size(), count < 3 ? 1U : 2U) << "half of the long message was overwritten";
  }
  must(open()->capabilities().trash->purge(id));
  EXPECT_EQ(must(open()->find(id)), std::nullopt);
  EXPECT_EQ(files_with(folder_.path(), kWord), std::vector<std::string>{});
  EXPECT_EQ(damage(), std::vector<std::string>{});
}

// The contents of a session, as (messages, bytes of each).
class FullDiskPurge : public SqlitePurge,
                      public testing::WithParamInterface<std::pair<int, std::size_t>> {
 protected:
  void SetUp() override {
    if (!disk_.is_mounted()) {
      GTEST_SKIP() << "mounting a small disk needs root";
    }
    for (const char* id : {"large", "other"}) {
      must(open()->create(session(id)));
    }
  }
  void purge_on_full_disk(const SessionId& id) {
    disk_.fill();
    const auto store = open();
    ASSERT_TRUE(works(store->capabilities().trash->purge(id)));
    EXPECT_EQ(must(store->find(id)), std::nullopt);
    EXPECT_EQ(files_with(folder_.path(), kWord), std::vector<std::string>{});
    EXPECT_EQ(damage(), std::vector<std::string>{});
  }

  SmallDisk disk_{folder_.path(), "size=24m"};
};

TEST_P(FullDiskPurge, Works) {
  const auto [count, bytes] = GetParam();
  std::vector<Message> messages;
  for (int i = 0; i < count; ++i) {
    messages.push_back(user(std::string(bytes, 'x') + std::string(kWord)));
    messages.back().usage = Usage{.request_id = std::string(500, 'r') + cat(i)};
  }
  must(open()->append(session_id("large"), messages, {}));
  must(open()->update(session_id("large"), {.prompt_history = {{std::string(1'500'000, 'p')}}}));
  PlainDatabase(file_).run(
      cat("CREATE TABLE session_snapshots(session_id TEXT PRIMARY KEY, messages TEXT NOT NULL,"
          " token_count INTEGER, created_at DATETIME);"
          "INSERT INTO session_snapshots(session_id, messages) VALUES('large', '",
          std::string(1'500'000, 's'), "')"));
  purge_on_full_disk(session_id("large"));
  EXPECT_TRUE(must(open()->find(session_id("other"))));
}

INSTANTIATE_TEST_SUITE_P(Sizes, FullDiskPurge,
                         testing::Values(std::pair(100, 4'000), std::pair(1, 400'000),
                                         std::pair(500, 6'000), std::pair(1, 5'000'000),
                                         std::pair(5'000, 0)));

using FullDiskBlobs = FullDiskPurge;

// As (number of blobs, bytes of each), all put more than a day ago.
TEST_P(FullDiskBlobs, OfThePurgedSessionAreRemoved) {
  const auto [count, bytes] = GetParam();
  {
    const auto store = open();
    for (int i = 0; i < count; ++i) {
      const std::string blob = cat(i, std::string(bytes, 'x'), kWord);
      must(store->append(session_id("large"),
                         {showing(must(store->capabilities().blobs->put_blob(blob)))}, {}));
    }
  }
  clock_.later = kBlobPinned + std::chrono::hours(1);
  purge_on_full_disk(session_id("large"));
}

TEST_P(FullDiskBlobs, OfOthersDoNotStopAPurge) {
  const auto [count, bytes] = GetParam();
  {
    const auto store = open();
    for (int i = 0; i < count; ++i) {
      must(store->capabilities().blobs->put_blob(cat(i, std::string(bytes, 'x'))));
    }
  }
  clock_.later = kBlobPinned + std::chrono::hours(1);
  purge_on_full_disk(session_id("large"));
  fs::remove(folder_.path() / "filler");
  must(open()->capabilities().trash->purge(session_id("other")));
  const std::string left = PlainDatabase(file_).rows("SELECT count(*) FROM reprise_blobs").at(0);
  EXPECT_LE(std::stoi(left), std::max(0, count - 64));
}

INSTANTIATE_TEST_SUITE_P(Sizes, FullDiskBlobs,
                         testing::Values(std::pair(1, 3'000'000), std::pair(100, 50'000),
                                         std::pair(2'000, 10)));

}  // namespace
}  // namespace reprise::test
