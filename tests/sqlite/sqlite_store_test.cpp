// Specific to this store: its files, its log, group commits, retained messages.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "sqlite/sqlite_support.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/database.h"
#include "store/sqlite/sessions.h"
#include "support/build.h"
#include "support/child.h"
#include "support/must.h"
#include "support/small_disk.h"

namespace reprise::test {
namespace {

namespace fs = std::filesystem;

const SessionId kId = session_id("s");

class SqliteStoreTest : public testing::Test {
 protected:
  fs::path path(std::string_view suffix = "") const {
    return folder_.path() / "new folder" / cat("r?#%.db", suffix);
  }
  TemporaryFolder folder_;
};

TEST_F(SqliteStoreTest, MakesPrivateFiles) {
  const auto store = open_at(path());
  must(store->create(session("s")));
  EXPECT_EQ(mode_of(path().parent_path()), 0700U);
  for (const char* suffix : {"", "-wal", "-shm", "-lock"}) {
    EXPECT_EQ(mode_of(path(suffix)), 0600U) << suffix;
  }
}

// The last connection to a database removes its log. As long as a store is open, another program
// must find SQLite's shared lock, or it takes itself for the last one.
TEST_F(SqliteStoreTest, RemainsLockedWhateverIsReadMeanwhile) {
  const auto is_locked = [this] {
    return exit_code_of(in_child([this] {
             constexpr off_t kSharedFirst = 0x40000002;  // sqlite.org/src/file/src/os.h
             constexpr off_t kSharedSize = 510;
             const int fd = ::open(path().c_str(), O_RDWR | O_CLOEXEC);
             struct flock lock{};
             lock.l_type = F_WRLCK;
             lock.l_start = kSharedFirst;
             lock.l_len = kSharedSize;
             return ::fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK ? 1 : 0;
           })) == 1;
  };
  must(open_at(path())->create(session("s")));
  EXPECT_FALSE(is_locked());
  const auto store = open_at(path());
  EXPECT_TRUE(is_locked()) << "by an open store";
  EXPECT_EQ(must(recognise_store(path())), cat("sqlite:", path().native()));
  EXPECT_TRUE(is_locked()) << "after its kind was recognised";
  EXPECT_FALSE(must(read_file(path())).empty());
  EXPECT_TRUE(is_locked()) << "after its file was read";
  must(must(open_store(cat("sqlite:", path().native()), {.access = Access::read}))->list({}));
  EXPECT_TRUE(is_locked()) << "after it was opened for reading";
}

// Reading creates no files, so a database without a shared memory file is read without locks. What
// another program writes meanwhile must not end up in a backup as half a change.
TEST_F(SqliteStoreTest, ABackupDuringAWriteIsOfOneState) {
  const auto write = [this](std::string_view text) {
    const auto store = open_at(path());
    for (int i = 0; i < 60; ++i) {
      must(store->append(kId, {user(std::string(100'000, text[0]))}, {}));
    }
    must(store->create(session(text)));
    must(store->capabilities().trash->purge(session_id(text)));  // empties the log
  };
  must(open_at(path())->create(session("s")));
  write("a");
  sqlite3* last = nullptr;  // removes the log and the shared memory file
  ASSERT_EQ(sqlite3_open(path().c_str(), &last), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(last, "SELECT count(*) FROM messages", nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(last);
  ASSERT_FALSE(fs::exists(path("-shm")));
  bool has_written = false;
  const auto reader = must(open_store(cat("sqlite:", path().native()),
                                      {.access = Access::read, .on_progress = [&](const Progress&) {
                                         if (!std::exchange(has_written, true)) {
                                           write("b");
                                         }
                                       }}));
  must(reader->capabilities().backup->backup(path("-backup")));
  EXPECT_TRUE(has_written);
  const auto copy = open_at(path("-backup"));
  EXPECT_EQ(must(get(*copy, kId)).info.head, Seq{120}) << "it was repeated";
  EXPECT_TRUE(must(copy->capabilities().verifier->verify()).damage.empty());
}

TEST_F(SqliteStoreTest, KeepsItsLogShort) {
  auto store = open_at(path());
  must(store->create(session("s")));
  std::uintmax_t longest = 0;
  for (int i = 0; i < 120; ++i) {
    must(store->append(kId, {user(std::string(100'000, 'x'))}, {.durability = Durability::os}));
    longest = std::max(longest, fs::file_size(path("-wal")));
  }
  EXPECT_LT(longest, 6U << 20U);
  EXPECT_GT(fs::file_size(path()), 7U << 20U);
  must(store->append(kId, {user(std::string(12'000'000, 'x'))}, {}));
  must(store->append(kId, {user("y")}, {}));
  EXPECT_LT(fs::file_size(path("-wal")), longest) << "what one long message took is given back";
  EXPECT_GT(fs::file_size(path()), 19U << 20U);
  for (int i = 0; i < 50; ++i) {
    must(store->append(kId, {user(std::string(100'000, 'x'))}, {}));
  }
  EXPECT_GT(fs::file_size(path("-wal")), 3U << 20U);
  store.reset();
  EXPECT_EQ(fs::file_size(path("-wal")), 0U);
}

TEST_F(SqliteStoreTest, SharesTheCheckpointsOfLargeTransactions) {
  const auto store = open_at(path());
  must(store->create(session("s")));
  const auto append = [&](int times, std::size_t bytes) {
    std::uintmax_t longest = 0;
    for (int i = 0; i < times; ++i) {
      must(store->append(kId, {user(std::string(bytes, 'x'))}, {.durability = Durability::os}));
      longest = std::max(longest, fs::file_size(path("-wal")));
    }
    return longest;
  };
  EXPECT_GT(append(12, 1'000'000), 11U << 20U);
  EXPECT_LT(append(24, 1'000'000), 20U << 20U);
  append(80, 100'000);
  EXPECT_LT(append(80, 100'000), 6U << 20U) << "what large transactions took is given back";
}

TEST_F(SqliteStoreTest, CheckpointsALongLogAtTheEnd) {
  {
    const auto store = open_at(path());
    must(store->create(session("s")));
    must(store->append(kId, {user(std::string(2'000'000, 'x'))}, {}));
    EXPECT_GT(fs::file_size(path("-wal")), 2'000'000U);
  }
  EXPECT_EQ(fs::file_size(path("-wal")), 0U);
}

TEST_F(SqliteStoreTest, BeginsASessionThatOthersSeeAtOnce) {
  const auto store = open_at(path());
  DeferredCreation& beginning = *store->capabilities().deferred_creation;
  must(beginning.begin(session("s")));
  EXPECT_TRUE(must(open_at(path())->find(kId)));
  const auto again = beginning.begin(session("s"));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Code::conflict);
  must(store->append(kId, {user("x")}, {}));
  EXPECT_EQ(must(read_all(*open_at(path()), kId)).size(), 1U);
}

// Another program may have written anything.
TEST_F(SqliteStoreTest, ATitleThatIsNoUtf8IsDamage) {
  const auto store = open_at(path());
  must(store->create(session("s")));
  PlainDatabase(path()).run("UPDATE sessions SET title = CAST(x'61ff' AS TEXT)");
  const SessionPage page = must(store->list({}));
  ASSERT_EQ(page.sessions.size(), 1U);
  EXPECT_EQ(page.sessions[0].title, "a\xEF\xBF\xBD");
  EXPECT_EQ(page.damage.size(), 1U);
}

// After 16,384 titles, the whole table is scanned in its own order.
TEST_F(SqliteStoreTest, FindsTitlesFarFromTheNewest) {
  const auto store = open_at(path());
  PlainDatabase(path()).run(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"
      "INSERT INTO sessions(id, title, model, system_prompt, state, created_us, updated_us)"
      " SELECT printf('s%05d', i), iif(i % 4000 = 50, 'Rare ', 'a session ') || i, '', '',"
      " iif(i % 8000 = 50, 'closed', 'active'), i, (i * 7919) % 20000 FROM n");
  const auto expected = [](std::string_view state) {
    std::vector<std::pair<int, std::string>> found;
    for (const int i : {50, 4050, 8050, 12050, 16050}) {
      const bool is_closed = i % 8000 == 50;
      if (state.empty() || (state == "closed") == is_closed) {
        found.emplace_back(i * 7919 % 20000, cat("Rare ", i));
      }
    }
    std::ranges::sort(found, std::ranges::greater());
    return found;
  };
  const auto titles = [&](SessionQuery query) {
    std::vector<std::pair<int, std::string>> found;
    do {
      const SessionPage page = must(store->list(query));
      for (const SessionInfo& info : page.sessions) {
        found.emplace_back(info.updated_at.time_since_epoch().count(), info.title);
      }
      query.after = page.next;
    } while (!query.after.empty());
    return found;
  };
  for (const std::size_t limit : {1U, 2U, 50U}) {
    EXPECT_EQ(titles({.title_contains = "rARE", .limit = limit}), expected("")) << limit;
  }
  EXPECT_EQ(titles({.states = {SessionState::closed}, .title_contains = "rare"}),
            expected("closed"));
  EXPECT_EQ(titles({.working_dir = "", .title_contains = "rare"}), expected(""));
  EXPECT_TRUE(titles({.title_contains = "nobody's"}).empty());
}

// The commits in a log: its frames with the number of pages, written since it was last restarted.
std::int64_t commits_in(const std::filesystem::path& log) {
  const std::string bytes = must(read_file(log));
  const auto field = [&bytes](std::size_t at, std::size_t size) { return bytes.substr(at, size); };
  const std::string salts = field(16, 8);
  std::size_t page_bytes = 0;
  for (const char c : field(8, 4)) {
    page_bytes = page_bytes << 8U | static_cast<unsigned char>(c);
  }
  std::int64_t commits = 0;
  for (std::size_t at = 32; at + 24 <= bytes.size() && field(at + 8, 8) == salts;
       at += 24 + page_bytes) {
    commits += field(at + 4, 4) == std::string(4, '\0') ? 0 : 1;
  }
  return commits;
}

TEST_F(SqliteStoreTest, SharesCommitsBetweenThreads) {
  const auto database = must(sqlite::Database::open(path(), {}));
  must(open_at(path())->create(session("s")));
  constexpr int kThreads = 8;
  constexpr int kEach = 25;
  std::atomic<int> done{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < kEach; ++i) {
          const std::vector<Message> batch = {user("x")};
          const AppendOptions options;
          const auto made = sqlite::make_batch(batch, options);
          done += database->write(Durability::disk,
                                  [&](sqlite::Connection& connection) -> Result<> {
                                    // As slow as a disk: the other writers arrive meanwhile.
                                    std::this_thread::sleep_for(std::chrono::microseconds(300));
                                    REPRISE_TRY(append_messages(connection, kId, made));
                                    return {};
                                  })
                      ? 1
                      : 0;
        }
      });
    }
  }
  EXPECT_EQ(done, kThreads * kEach);
  const std::int64_t commits = commits_in(path().string() + "-wal");
  EXPECT_GT(commits, 0);
  EXPECT_LT(commits, kThreads * kEach / 2);
  EXPECT_EQ(must(read_all(*open_at(path()), kId)).size(), std::size_t{kThreads * kEach});
}

TEST_F(SqliteStoreTest, FailsOneOfAGroupAlone) {
  const auto store = open_at(path());
  must(store->create(session("s")));
  std::atomic<int> good{0};
  std::atomic<int> refused{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 20; ++i) {
          const auto done = store->append(
              t % 2 == 0 ? kId : session_id("nobody"), {user("x")},
              t % 4 == 2 ? AppendOptions{.expected_head = Seq{100'000}} : AppendOptions{});
          (done ? good : refused) += 1;
        }
      });
    }
  }
  EXPECT_EQ(good, 40);
  EXPECT_EQ(refused, 120);
  EXPECT_EQ(must(get(*store, kId)).info.head, Seq{40});
}

TEST_F(SqliteStoreTest, ReadsASnapshotWhileASuffixIsReplaced) {
  const auto store = open_at(path());
  must(store->create(session("s")));
  must(store->append(kId, messages(1000, "old"), {}));
  std::vector<std::string> seen;
  const auto report = store->read(kId, {}, [&](Message&& message) {
    if (message.seq == Seq{300}) {  // in the second page
      must(store->capabilities().rewriting->replace_suffix(kId, Seq{10}, messages(5, "new"), {}));
      must(store->capabilities().rewriting->replace_suffix(kId, Seq{2}, messages(1, "newer"), {}));
    }
    seen.push_back(plain_text(message));
    return Flow::proceed;
  });
  ASSERT_TRUE(works(report));
  ASSERT_EQ(seen.size(), 1000U);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    ASSERT_EQ(seen[i], cat("old ", i));
  }
  EXPECT_EQ(texts(must(read_all(*store, kId))),
            (std::vector<std::string>{"old 0", "old 1", "newer 0"}));
  EXPECT_EQ(must(store->list({})).sessions.size(), 1U);
  EXPECT_TRUE(must(store->capabilities().repair->verify()).damage.empty());
}

TEST_F(SqliteStoreTest, KeepsForksWholeThroughRewinds) {
  const auto store = open_at(path());
  const auto& offers = store->capabilities();
  must(store->create(session("s")));
  must(store->append(kId, messages(10, "m"), {}));
  must(offers.forking->fork(kId, Seq{8}, session("f8")));
  must(store->append(session_id("f8"), messages(2, "f"), {}));
  must(offers.forking->fork(session_id("f8"), Seq{9}, session("g")));
  must(offers.forking->fork(session_id("f8"), Seq{3}, session("h")));
  must(offers.rewriting->replace_suffix(kId, Seq{5}, {}, {}));
  must(offers.rewriting->replace_suffix(kId, Seq{1}, {user("x")}, {}));
  must(offers.rewriting->replace_suffix(session_id("f8"), Seq{4}, {user("y")}, {}));
  const auto read = [&](const char* id) { return texts(must(read_all(*store, session_id(id)))); };
  EXPECT_EQ(read("s"), (std::vector<std::string>{"m 0", "x"}));
  EXPECT_EQ(read("f8"), (std::vector<std::string>{"m 0", "m 1", "m 2", "m 3", "y"}));
  EXPECT_EQ(read("g"), (std::vector<std::string>{"m 0", "m 1", "m 2", "m 3", "m 4", "m 5", "m 6",
                                                 "m 7", "f 0"}));
  EXPECT_EQ(read("h"), (std::vector<std::string>{"m 0", "m 1", "m 2"}));
  EXPECT_EQ(must(get(*store, session_id("g"))).info.forked_from->session, session_id("f8"));
  EXPECT_TRUE(must(offers.repair->verify()).damage.empty());
  const auto refused = offers.trash->purge(kId);
  EXPECT_TRUE(fails(refused, Code::conflict));
  EXPECT_NE(refused.error().message.find("h"), std::string::npos);
  for (const char* id : {"g", "h", "f8", "s"}) {
    EXPECT_TRUE(works(offers.trash->purge(session_id(id)))) << id;
  }
  PlainDatabase plain(path());
  EXPECT_EQ(plain.rows("SELECT count(*) FROM messages"), std::vector<std::string>{"0"});
  EXPECT_EQ(plain.rows("SELECT count(*) FROM sessions"), std::vector<std::string>{"0"});
}

TEST_F(SqliteStoreTest, FindsAPageByIndexes) {
  const auto store = open_at(path());
  must(store->create(session("s")));
  PlainDatabase plain(path());
  const auto uses = [&](const std::string& where, const std::string& index) {
    std::string plan;
    for (const std::string& row :
         plain.rows("EXPLAIN QUERY PLAN SELECT rowid, updated_us, id FROM sessions WHERE " + where +
                    " AND updated_slot <= (5 >> 26) AND (updated_us, id) < (5, 'x')"
                    " ORDER BY updated_slot DESC, updated_us DESC, id DESC LIMIT 50")) {
      plan += row + "\n";
    }
    EXPECT_NE(plan.find(index), std::string::npos) << plan;
    EXPECT_NE(plan.find("updated_slot<?"), std::string::npos) << plan;
    // Only the sessions of one slot are sorted.
    EXPECT_EQ(plan.find("TEMP B-TREE FOR ORDER BY"), std::string::npos) << plan;
  };
  uses("state = 'active'", "reprise_by_slot ");
  uses("state = 'active' AND working_dir = '/'", "reprise_by_folder_slot ");
}

TEST_F(SqliteStoreTest, ListsByTimeWithinAMinuteAndBeyond) {
  const auto store = open_at(path());
  constexpr int kSessions = 40;
  for (int i = 0; i < kSessions; ++i) {  // ids in another order than times, five per minute
    must(store->create(session(cat("s", (i * 7) % kSessions + 10), at(i * 13))));
  }
  std::vector<Time> times;
  SessionQuery query{.limit = 7};
  while (times.empty() || !query.after.empty()) {
    const SessionPage page = must(store->list(query));
    for (const SessionInfo& info : page.sessions) {
      times.push_back(info.updated_at);
    }
    query.after = page.next;
  }
  ASSERT_EQ(times.size(), static_cast<std::size_t>(kSessions));
  for (int i = 0; i < kSessions; ++i) {
    EXPECT_EQ(times[static_cast<std::size_t>(i)], at((kSessions - 1 - i) * 13));
  }
  must(store->append(session_id("s10"), {user("x", at(1000))}, {}));
  EXPECT_EQ(must(store->list({.limit = 1})).sessions.at(0).id, session_id("s10"));
}

TEST_F(SqliteStoreTest, WritesLittleForATurn) {
  const auto store = open_at(path());
  Session with_prompt = session("s");
  with_prompt.system_prompt = std::string(50'000, 'p');
  must(store->create(with_prompt));
  for (int i = 0; i < 50; ++i) {
    must(store->append(kId, messages(10), {.durability = Durability::os}));
  }
  // Occasionally, a sum grows by a byte, which makes the row longer and moves the long prompt.
  Message earlier = assistant("words");
  earlier.usage = usage("earlier request", 100'000, 100'000);
  must(store->append(kId, {earlier}, {}));
  const auto before = fs::file_size(path("-wal"));
  const OperationId answer = operation_id("answer");
  must(store->append(kId, {user("question")},
                     {.operation = operation_id("op-1"),
                      .begin_partial = PartialStart{answer, this_process(), {}, {}, {}}}));
  const std::vector<Block> piece = {TextBlock{"some words ", {}}};
  must(store->capabilities().partials->add_partial(kId, answer, piece));
  must(store->capabilities().partials->add_partial(kId, answer, piece));
  Message last = assistant("some words some words");
  last.usage = usage("request", 10, 20);
  must(store->append(kId, {last}, {.operation = operation_id("op-2"), .end_partial = answer}));
  const auto written = fs::file_size(path("-wal")) - before;
  EXPECT_LE(written, 80U << 10U);
}

TEST_F(SqliteStoreTest, ReusesThePagesOfPiecesForALongAnswer) {
  constexpr std::uintmax_t kBytes = 12'000'000;
  auto store = open_at(path());
  must(store->create(session("s")));
  const OperationId answer = operation_id("answer");
  must(store->append(kId, {user("question")},
                     {.begin_partial = PartialStart{answer, this_process(), {}, {}, {}}}));
  const std::vector<Block> piece = {TextBlock{std::string(kBytes / 12, 'x'), {}}};
  for (int i = 0; i < 12; ++i) {
    must(store->capabilities().partials->add_partial(kId, answer, piece));
  }
  // A reader prevents checkpoints, so that the log remains.
  PlainDatabase reader(path());
  reader.run("BEGIN");
  ASSERT_EQ(reader.rows("SELECT count(*) FROM sessions").size(), 1U);
  const auto before = fs::file_size(path("-wal"));
  must(store->append(kId, {assistant(std::string(kBytes, 'x'))}, {.end_partial = answer}));
  const std::uintmax_t logged = fs::file_size(path("-wal")) - before;
  reader.run("COMMIT");
  store.reset();
  EXPECT_LT(fs::file_size(path()), kBytes * 5 / 4);
  EXPECT_LT(logged, kBytes * 9 / 4) << logged;
}

TEST_F(SqliteStoreTest, BacksUpEverything) {
  const auto store = open_at(path());
  must(store->create(session("s")));
  must(store->append(kId, messages(100), {}));
  const fs::path target = folder_.path() / "copy.db";
  ASSERT_TRUE(works(store->capabilities().backup->backup(target)));
  EXPECT_TRUE(fails(store->capabilities().backup->backup(target), Code::conflict));
  EXPECT_EQ(mode_of(target), 0600U);
  EXPECT_TRUE(
      fails(store->capabilities().backup->backup(folder_.path() / "no" / "x.db"), Code::not_found));
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder_.path())) {
    ++files;
  }
  EXPECT_EQ(files, 2U);  // the store, and the copy without other files
  const auto copy = open_at(target);
  EXPECT_EQ(must(read_all(*copy, kId)), must(read_all(*store, kId)));
}

// On Linux, an open file that has no name any more can be written, and is lost when it is closed.
TEST_F(SqliteStoreTest, DoesNotAcknowledgeWhatGoesToARemovedFile) {
  const auto store = open_at(path());
  must(store->create(session("s")));
  must(store->append(kId, messages(2), {}));
  EXPECT_EQ(must(read_all(*store, kId)).size(), 2U);
  const fs::path aside = folder_.path() / "aside";
  fs::rename(path(), aside);
  EXPECT_TRUE(fails(store->append(kId, messages(1), {}), Code::not_found));
  EXPECT_TRUE(fails(store->append(kId, messages(1), {}), Code::not_found));
  EXPECT_FALSE(fs::exists(path()));
  EXPECT_EQ(must(read_all(*store, kId)).size(), 2U) << "what is left can be read";
  fs::rename(aside, path());
  EXPECT_EQ(must(store->append(kId, messages(1), {})).first, Seq{2});
  EXPECT_EQ(must(read_all(*open_at(path()), kId)).size(), 3U);
}

TEST_F(SqliteStoreTest, RepairsIntoACopy) {
  {
    const auto store = open_at(path());
    must(store->create(session("s")));
    must(store->append(kId, messages(2000, "some longer text to fill the pages with"), {}));
    must(store->capabilities().forking->fork(kId, Seq{1000}, session("f")));
    PlainDatabase plain(path());
    plain.run("UPDATE messages SET content = '[{\"type\":' WHERE seq = 1500");
    plain.run("PRAGMA wal_checkpoint(TRUNCATE)");
  }
  std::string bytes = bytes_of(path());
  // Damages pages in the middle of the messages.
  constexpr std::size_t kPage = 4096;
  for (const std::size_t page : {std::size_t{30}, std::size_t{31}, std::size_t{60}}) {
    ASSERT_LT((page + 1) * kPage, bytes.size());
    bytes.replace(page * kPage, kPage, std::string(kPage, '\xEE'));
  }
  must(replace_file(path(), bytes));
  const auto store = open_at(path());
  EXPECT_FALSE(must(store->capabilities().repair->verify()).damage.empty());
  const fs::path target = folder_.path() / "repaired.db";
  const VerifyReport report = must(store->capabilities().repair->repair_into(target));
  EXPECT_TRUE(fails(store->capabilities().repair->repair_into(target), Code::conflict));
  EXPECT_FALSE(report.damage.empty());
  EXPECT_EQ(bytes_of(path()), bytes);
  const auto repaired = open_at(target);
  EXPECT_TRUE(must(repaired->capabilities().repair->verify()).damage.empty());
  const auto there = must(read_all(*repaired, kId));
  EXPECT_GT(there.size(), 1850U);
  EXPECT_LT(there.size(), 2000U);
  EXPECT_EQ(there.back().seq, Seq{1999});
  EXPECT_GT(must(read_all(*repaired, session_id("f"))).size(), 900U);
  PlainDatabase plain(target);
  EXPECT_EQ(plain.rows("SELECT CAST(bytes AS TEXT) FROM reprise_damage WHERE place ="
                       " 'r?#%.db: messages row 1501'"),
            std::vector<std::string>{R"([{"type":)"});
}

// A database written by repair has no log.
TEST_F(SqliteStoreTest, SwitchesTheDatabaseToALog) {
  const fs::path target = folder_.path() / "repaired.db";
  must(open_at(path())->create(session("s")));
  must(open_at(path())->capabilities().repair->repair_into(target));
  ASSERT_EQ(bytes_of(target).at(18), '\x01');
  const auto store = open_at(target);
  must(store->append(kId, {user("with a log")}, {}));
  EXPECT_EQ(bytes_of(target).at(18), '\x02');
  EXPECT_TRUE(fs::exists(fs::path(target) += "-wal"));
}

// A reused connection still has its settings.
TEST_F(SqliteStoreTest, KeepsFourReadersAtMost) {
  must(open_at(path())->create(session("s")));
  for (const int count : {1, 4, 5, 8}) {
    const auto database = must(sqlite::Database::open(path(), {}));
    int kept = 0;
    for (const bool again : {false, true}) {
      std::vector<sqlite::Database::Reader> readers;
      for (int i = 0; i < count; ++i) {
        readers.push_back(must(database->reader()));
        kept += again && must(readers.back()->integer("PRAGMA cache_size")) == 777 ? 1 : 0;
        must(readers.back()->script("PRAGMA cache_size = 777"));
      }
    }
    EXPECT_EQ(kept, std::min(count, 4)) << count;
  }
}

// Otherwise the next writer would share files that they could only open for reading.
TEST_F(SqliteStoreTest, LetsGoOfReadersWhenAWriteHasFailed) {
  const SmallDisk disk(folder_.path());
  if (!disk.is_mounted()) {
    GTEST_SKIP() << "mounting a small disk needs root";
  }
  const auto database = must(sqlite::Database::open(path(), {}));
  must(must(database->reader())->script("PRAGMA cache_size = 777"));
  disk.fill();
  EXPECT_TRUE(fails(database->write(Durability::disk,
                                    [](sqlite::Connection& connection) {
                                      return connection.script(
                                          "CREATE TABLE large AS SELECT zeroblob(9000000)");
                                    }),
                    Code::io));
  EXPECT_NE(must(must(database->reader())->integer("PRAGMA cache_size")), 777);
}

// Reading something other than a file might block forever.
TEST(SqlitePlace, IsNoPipeAndNoDevice) {
  const TemporaryFolder folder;
  const fs::path pipe = folder.path() / "pipe.db";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const fs::path& place : {pipe, fs::path("/dev/zero"), folder.path()}) {
    for (const Access access : {Access::read, Access::write}) {
      EXPECT_TRUE(fails(open_sqlite_store(place, {.access = access}), Code::invalid_argument));
    }
  }
}

}  // namespace
}  // namespace reprise::test
