// Acknowledged messages survive kill -9, torn logs, other processes and full disks.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <random>
#include <thread>

#include "base/file.h"
#include "base/lock_file.h"
#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "sqlite/sqlite_support.h"
#include "store/sqlite/library.h"
#include "support/build.h"
#include "support/checkpointing_program.h"
#include "support/child.h"
#include "support/must.h"
#include "support/small_disk.h"

namespace reprise::test {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

const SessionId kSession = session_id("s");

TEST(Killing, LosesNothingThatWasAcknowledged) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "r.db";
  must(open_at(file)->create(session("s")));
  std::minstd_rand random(7);
  std::int64_t acknowledged = 0;
  for (int round = 0; round < 20; ++round) {
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
    const pid_t child = in_child([&] {
      const auto store = open_at(file);
      for (std::int64_t i = acknowledged;; ++i) {
        const auto done = store->append(kSession, {user(cat("message ", i))}, {});
        if (!done || ::write(pipe[1], &done->head.value, sizeof(std::int64_t)) < 0) {
          return 1;
        }
      }
    });
    ::close(pipe[1]);
    const auto wait = std::chrono::microseconds(5'000 + random() % 40'000);
    std::int64_t head = 0;
    // Waits for the first append, then kills at any time.
    ASSERT_EQ(::read(pipe[0], &head, sizeof head), static_cast<ssize_t>(sizeof head));
    std::this_thread::sleep_for(wait);
    ::kill(child, SIGKILL);
    std::int64_t last = head;
    while (::read(pipe[0], &head, sizeof head) == static_cast<ssize_t>(sizeof head)) {
      last = head;
    }
    ::close(pipe[0]);
    EXPECT_EQ(exit_code_of(child), 128 + SIGKILL);
    const auto store = open_at(file);
    const auto there = must(read_all(*store, kSession));
    ASSERT_GE(static_cast<std::int64_t>(there.size()), last);
    for (std::size_t i = 0; i < there.size(); ++i) {
      ASSERT_EQ(there[i].seq.value, static_cast<std::int64_t>(i));
      ASSERT_EQ(plain_text(there[i]), cat("message ", i));
    }
    acknowledged = static_cast<std::int64_t>(there.size());
  }
  EXPECT_TRUE(must(open_at(file)->capabilities().repair->verify()).damage.empty());
}

TEST(TornLog, LeavesABeginning) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "r.db";
  {
    const auto store = open_at(file);
    must(store->create(session("s")));
    for (int i = 0; i < 20; ++i) {
      must(store->append(kSession, {user(cat("message ", i))}, {}));
    }
  }
  const std::string database = bytes_of(file);
  const std::string log = bytes_of(folder.path() / "r.db-wal");
  ASSERT_GT(log.size(), 100'000U);
  std::size_t longest = 0;
  for (std::size_t cut = 0; cut <= log.size(); cut += 3001) {
    const fs::path copy = folder.path() / cat("cut", cut) / "r.db";
    must(make_private_folders(copy.parent_path()));
    must(replace_file(copy, database));
    must(replace_file(copy.parent_path() / "r.db-wal", log.substr(0, cut)));
    const auto opened = open_sqlite_store(copy);
    ASSERT_TRUE(works(opened)) << cut;
    const auto found = must((*opened)->find(kSession));
    const auto there = found ? must(read_all(**opened, kSession)) : std::vector<Message>{};
    ASSERT_GE(there.size(), longest) << "more of the log cannot show less";
    longest = there.size();
    for (std::size_t i = 0; i < there.size(); ++i) {
      ASSERT_EQ(plain_text(there[i]), cat("message ", i));
    }
    if (found) {
      EXPECT_EQ(found->info.head.value, static_cast<std::int64_t>(there.size()));
      EXPECT_TRUE(works((*opened)->append(kSession, {user("next")}, {})));
    }
  }
  EXPECT_GE(longest, 19U);
}

TEST(Processes, AppendToOneSessionWithoutGapsOrLosses) {
  constexpr int kProcesses = 4;
  constexpr int kEach = 100;
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "r.db";
  must(open_at(file)->create(session("s")));
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p) {
    children.push_back(in_child([&] {
      const auto store = open_at(file, {.busy_timeout = milliseconds(60'000)});
      for (int i = 0; i < kEach; ++i) {
        if (!store->append(kSession, {user(cat(p, " ", i))}, {})) {
          return 1;
        }
      }
      return 0;
    }));
  }
  for (const pid_t child : children) {
    EXPECT_EQ(exit_code_of(child), 0);
  }
  const auto there = must(read_all(*open_at(file), kSession));
  ASSERT_EQ(there.size(), std::size_t{kProcesses * kEach});
  std::array<int, kProcesses> next{};
  for (std::size_t i = 0; i < there.size(); ++i) {
    EXPECT_EQ(there[i].seq.value, static_cast<std::int64_t>(i));
    const std::string text = plain_text(there[i]);
    auto& expected = next.at(static_cast<std::size_t>(text[0] - '0'));
    EXPECT_EQ(text, cat(text[0], " ", expected++));  // those of each process are in order
  }
}

TEST(StoppedHolder, MakesOthersBusyInBoundedTimeAndReadersNot) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "r.db";
  const auto store = open_at(file, {.busy_timeout = milliseconds(200)});
  must(store->create(session("s")));
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
  const pid_t child = in_child([&] {
    const auto lock = must(LockFile::open(file.string() + "-lock"));
    const auto hold = must(lock->acquire(std::chrono::steady_clock::now() + milliseconds(5000)));
    (void)!::write(pipe[1], "x", 1);  // if the parent is gone, this process is killed anyway
    ::pause();
    return 0;
  });
  char ready = 0;
  ASSERT_EQ(::read(pipe[0], &ready, 1), 1);
  ::kill(child, SIGSTOP);
  const auto begin = std::chrono::steady_clock::now();
  const auto refused = store->append(kSession, {user("x")}, {});
  const auto waited = std::chrono::steady_clock::now() - begin;
  EXPECT_TRUE(fails(refused, Code::busy));
  EXPECT_NE(refused.error().message.find(cat("process ", child)), std::string::npos);
  EXPECT_GE(waited, milliseconds(200));
  EXPECT_LT(waited, milliseconds(5000));
  EXPECT_TRUE(must(store->find(kSession)));
  ::kill(child, SIGKILL);
  EXPECT_EQ(exit_code_of(child), 128 + SIGKILL);
  EXPECT_TRUE(works(store->append(kSession, {user("x")}, {})));
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST(OriginalHoldingItsLock, IsWaitedForABoundedTime) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "r.db";
  const auto store = open_at(file, {.busy_timeout = milliseconds(100)});
  must(store->create(session("s")));
  PlainDatabase plain(file);
  plain.run("BEGIN IMMEDIATE");
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(fails(store->append(kSession, {user("x")}, {}), Code::busy));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(100));
  plain.run("COMMIT");
  EXPECT_TRUE(works(store->append(kSession, {user("x")}, {})));
}

TEST(OriginalHoldingItsLock, IsWaitedForOnce) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "r.db";
  const auto store = open_at(file, {.busy_timeout = milliseconds(500)});
  must(store->create(session("s")));
  PlainDatabase plain(file);
  plain.run("BEGIN IMMEDIATE");
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(fails(store->append(kSession, {user("x")}, {}), Code::busy));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(20 * 500 / 2));
  plain.run("COMMIT");
  EXPECT_TRUE(works(store->append(kSession, {user("x")}, {})));
}

// Otherwise the second message would be written over the first one in the log, of which that
// program has read how long it is, and count as checkpointed.
TEST(AnotherProgramsCheckpoint, IsNotMetByAWriteThatRestartsTheLog) {
  if (!sqlite::has_wal_reset_fault()) {
    GTEST_SKIP() << "SQLite " << sqlite::version() << " does not have the fault";
  }
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "r.db";
  const auto store = open_at(file, {.busy_timeout = milliseconds(10)});
  must(store->create(session("s")));
  std::function<void()> meanwhile;
  CheckpointingProgram program(file, [&meanwhile] {
    if (meanwhile) {
      meanwhile();
    }
  });
  ASSERT_EQ(program.checkpoint(), SQLITE_OK);
  must(store->append(kSession, {user(std::string(100'000, '1'))}, {}));
  PlainDatabase(file).run("PRAGMA wal_checkpoint(PASSIVE)");
  std::optional<Result<AppendResult>> refused;
  meanwhile = [&] { refused = store->append(kSession, {user("2")}, {}); };
  ASSERT_EQ(program.checkpoint(), SQLITE_OK);
  ASSERT_TRUE(refused) << "the pause was not reached";
  EXPECT_TRUE(fails(*refused, Code::busy));
  for (const char* const text : {"3", "4", "5"}) {
    EXPECT_TRUE(works(store->append(kSession, {user(text)}, {})));
    EXPECT_EQ(program.checkpoint(), SQLITE_OK);
  }
  EXPECT_EQ(must(read_all(*store, kSession)).size(), 4U);
  EXPECT_TRUE(must(open_at(file)->capabilities().repair->verify()).damage.empty());
}

// Simulates a full disk without root: files cannot grow beyond the limit.
TEST(FileSizeLimit, FailsTheWriteAndKeepsTheRest) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "r.db";
  must(open_at(file)->create(session("s")));
  const pid_t child = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1 << 20, 1 << 20};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) {
      return 2;
    }
    const auto store = open_at(file);
    std::int64_t head = 0;
    for (int i = 0; i < 1000; ++i) {
      const auto done = store->append(kSession, {user(std::string(20'000, 'x'))}, {});
      if (!done) {
        const auto there = read_all(*store, kSession);
        return done.error().code == Code::io && there &&
                       static_cast<std::int64_t>(there->size()) == head && head > 10
                   ? 0
                   : 3;
      }
      head = done->head.value;
    }
    return 4;
  });
  EXPECT_EQ(exit_code_of(child), 0);
  const auto store = open_at(file);
  EXPECT_TRUE(must(store->capabilities().repair->verify()).damage.empty());
  EXPECT_TRUE(works(store->append(kSession, {user("x")}, {})));
}

TEST(FullDisk, FailsTheWriteAndCanBeRead) {
  const TemporaryFolder folder;
  const SmallDisk disk(folder.path());
  if (!disk.is_mounted()) {
    GTEST_SKIP() << "mounting a small disk needs root";
  }
  const fs::path file = folder.path() / "r.db";
  std::int64_t head = 0;
  {
    const auto store = open_at(file);
    must(store->create(session("s")));
    must(store->append(kSession, {user("first")}, {}));
    disk.fill();
    for (head = 1; head < 1000; ++head) {
      const auto done = store->append(kSession, {user(std::string(5'000, 'x'))}, {});
      if (!done) {
        EXPECT_TRUE(fails(done, Code::io));
        EXPECT_NE(done.error().message.find("free"), std::string::npos);
        break;
      }
    }
    EXPECT_EQ(must(read_all(*store, kSession)).size(), static_cast<std::size_t>(head));
  }
  // Without the shared memory file, for which there is no space.
  fs::remove(file.string() + "-shm");
  disk.fill();
  for (const Access access : {Access::read, Access::write, Access::read}) {
    const auto opened = open_sqlite_store(file, {.access = access});
    ASSERT_TRUE(works(opened));
    EXPECT_EQ(must(read_all(**opened, kSession)).size(), static_cast<std::size_t>(head));
    EXPECT_EQ(must((*opened)->list({})).sessions.size(), 1U);
  }
}

TEST(ReadOnlyFolder, CanBeReadWithTheLogThatIsThere) {
  const TemporaryFolder folder;
  const SmallDisk disk(folder.path());
  if (!disk.is_mounted()) {
    GTEST_SKIP() << "mounting a read-only disk needs root";
  }
  const fs::path file = folder.path() / "r.db";
  {
    const auto store = open_at(file);
    must(store->create(session("s")));
    must(store->append(kSession, {user("in the log")}, {}));
  }
  for (const bool with_shared_memory : {true, false}) {
    if (!with_shared_memory) {
      ASSERT_TRUE(disk.make_writable());
      fs::remove(file.string() + "-shm");
    }
    ASSERT_TRUE(disk.make_read_only());
    for (const Access access : {Access::read, Access::write}) {
      const auto opened = open_sqlite_store(file, {.access = access});
      ASSERT_TRUE(works(opened));
      EXPECT_EQ(texts(must(read_all(**opened, kSession))), std::vector<std::string>{"in the log"});
      EXPECT_FALSE((*opened)->append(kSession, {user("x")}, {}));
    }
  }
}

}  // namespace
}  // namespace reprise::test
