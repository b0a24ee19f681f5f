// What is acknowledged survives: kill -9 anywhere, other processes, full disks. Every file parses
// at any time, and a session is in one place.
//
// REPRISE_LONG=1 kills ten times as often.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "base/variable.h"
#include "reprise/error.h"
#include "reprise/message.h"
#include "reprise/open_store.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "reprise/store_offers.h"
#include "reprise/types.h"
#include "sessions/fixture.h"
#include "support/build.h"
#include "support/child.h"
#include "support/must.h"
#include "support/small_disk.h"
#include "support/temporary_folder.h"

namespace reprise::test {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<Store> open_at(const fs::path& folder, StoreOptions options = {}) {
  return must(open_sessions_store(folder / "sessions", options));
}

// The places that have the session's file.
std::vector<fs::path> places_of(const fs::path& folder) {
  std::vector<fs::path> places;
  for (const auto& entry : fs::recursive_directory_iterator(folder / "sessions")) {
    if (entry.path().extension() == ".json") {
      places.push_back(entry.path());
    }
  }
  return places;
}

class Killed : public testing::Test {
 protected:
  Killed() {
    must(replace_file(folder_.path() / "machine_secret", kFixtureSecret));
    must(open_at(folder_.path())->create(session("s")));
  }

  // Appends, closes, resumes, trashes and restores, for ever; says the head after each append.
  int work(int out) const {
    const auto store = open_at(folder_.path());
    const SessionId id = session_id("s");
    std::int64_t head = must(get(*store, id)).info.head.value;
    if (must(get(*store, id)).info.state == SessionState::trashed) {
      must(store->offers().trash->restore(id));
    }
    for (;;) {
      for (int i = 0; i < 3; ++i, head += 2) {
        const auto done =
            store->append(id,
                          {user(cat("message ", head), at(static_cast<int>(head))),
                           assistant(cat("message ", head + 1), at(static_cast<int>(head)))},
                          {});
        if (!done || ::write(out, &done->head.value, sizeof(std::int64_t)) < 0) {
          return 1;
        }
      }
      must(store->update(id, {.state = SessionState::closed, .closed_at = at(1)}));
      must(store->offers().trash->trash(id, at(1)));
      must(store->offers().trash->restore(id));
      must(store->update(id, {.state = SessionState::active}));
    }
  }

  void check(std::int64_t acknowledged) const {
    ASSERT_EQ(places_of(folder_.path()).size(), 1U);
    const auto store = open_at(folder_.path());
    const SessionPage page = must(store->list(
        {.states = {SessionState::active, SessionState::closed, SessionState::trashed}}));
    ASSERT_EQ(page.sessions.size(), 1U);
    EXPECT_EQ(page.damage, std::vector<Damage>{});
    const auto there = must(read_all(*store, session_id("s")));
    ASSERT_GE(static_cast<std::int64_t>(there.size()), acknowledged);
    EXPECT_EQ(there.size() % 2, 0U) << "a turn is there whole or not at all";
    EXPECT_EQ(page.sessions.front().head.value, static_cast<std::int64_t>(there.size()));
    for (std::size_t i = 0; i < there.size(); ++i) {
      ASSERT_EQ(plain_text(there[i]), cat("message ", i));
    }
    EXPECT_EQ(must(store->offers().signatures->signature(session_id("s"))), Signature::verified);
  }

  TemporaryFolder folder_;
};

TEST_F(Killed, LosesNothingThatWasAcknowledged) {
  std::minstd_rand random(11);
  const int rounds = variable("REPRISE_LONG").empty() ? 20 : 250;
  for (int round = 0; round < rounds; ++round) {
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
    const pid_t child = in_child([&] { return work(pipe[1]); });
    ::close(pipe[1]);
    std::int64_t head = 0;
    // The first one at least; then death at any point.
    ASSERT_EQ(::read(pipe[0], &head, sizeof head), static_cast<ssize_t>(sizeof head));
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 150'000));
    ::kill(child, SIGKILL);
    std::int64_t last = head;
    while (::read(pipe[0], &head, sizeof head) == static_cast<ssize_t>(sizeof head)) {
      last = head;
    }
    ::close(pipe[0]);
    EXPECT_EQ(exit_code_of(child), 128 + SIGKILL);
    check(last);
    if (HasFatalFailure()) {
      FAIL() << "in round " << round;
    }
  }
}

// Each turn is one batch, as the engine does it for an answer that did not stream.
TEST(TwoProcesses, AddTheirTurnsWholeWhileAThirdReads) {
  constexpr int kTurns = 200;
  const TemporaryFolder folder;
  must(open_at(folder.path())->create(session("s")));
  const SessionId id = session_id("s");
  std::array<pid_t, 2> writers{};
  for (std::size_t who = 0; who < writers.size(); ++who) {
    writers.at(who) = in_child([&] {
      const auto store = open_at(folder.path(), {.busy_timeout = std::chrono::minutes(2)});
      for (int turn = 0; turn < kTurns; ++turn) {
        const auto done = store->append(id,
                                        {user(cat("question ", who, " ", turn), at(turn)),
                                         assistant(cat("answer ", who, " ", turn), at(turn))},
                                        {});
        if (!done) {
          return 1;
        }
      }
      return 0;
    });
  }
  const pid_t reader = in_child([&] {
    std::size_t seen = 0;
    while (seen < 4 * kTurns) {
      // Anew each time, as another program would.
      const auto store = open_at(folder.path(), {.access = Access::read});
      const auto page = store->list({});
      const auto messages = read_all(*store, id);
      if (!page || !page->damage.empty() || page->sessions.size() != 1 || !messages ||
          messages->size() < seen || messages->size() % 2 != 0) {
        return 1;
      }
      seen = messages->size();
    }
    return 0;
  });
  for (const pid_t writer : writers) {
    EXPECT_EQ(exit_code_of(writer), 0);
  }
  EXPECT_EQ(exit_code_of(reader), 0);
  const auto there = must(read_all(*open_at(folder.path()), id));
  ASSERT_EQ(there.size(), 4U * kTurns);
  std::array<int, 2> next{};
  for (std::size_t i = 0; i < there.size(); i += 2) {
    const std::string question = plain_text(there[i]);
    ASSERT_TRUE(question.starts_with("question "));
    const auto who = static_cast<std::size_t>(question[9] - '0');
    EXPECT_EQ(question, cat("question ", who, " ", next.at(who)));
    EXPECT_EQ(plain_text(there[i + 1]), cat("answer ", who, " ", next.at(who)++));
  }
}

TEST(SessionsOnAFullDisk, FailAndCanBeReadDeletedAndKept) {
  const TemporaryFolder folder;
  const SmallDisk disk(folder.path());
  if (!disk.is_mounted()) {
    GTEST_SKIP() << "mounting a small disk needs root";
  }
  const auto store = open_at(folder.path());
  const SessionId id = session_id("s");
  must(store->create(session("s")));
  must(store->append(id, {user("first")}, {}));
  const SessionId closed = session_id("closed");
  must(store->create(session("closed")));
  must(store->update(closed, {.state = SessionState::closed, .closed_at = at(1)}));
  const std::string before = must(read_file(folder.path() / "sessions" / "closed.json"));
  disk.fill();
  EXPECT_TRUE(fails(store->append(id, {user(std::string(50'000, 'x'))}, {}), Code::io));
  EXPECT_TRUE(fails(store->update(closed, {.state = SessionState::active}), Code::io));
  EXPECT_EQ(must(read_file(folder.path() / "sessions" / "closed.json")), before)
      << "a failed resume leaves the file as it was";
  EXPECT_EQ(places_of(folder.path()).size(), 2U);
  const auto reader = open_at(folder.path(), {.access = Access::read});
  EXPECT_EQ(must(reader->list({})).sessions.size(), 2U);
  EXPECT_EQ(must(read_all(*reader, id)).size(), 1U);
  must(store->offers().trash->trash(closed, at(2)));
  EXPECT_EQ(must(reader->list({})).sessions.size(), 1U);
  must(store->offers().trash->restore(closed));
  must(store->offers().trash->purge(closed));
  EXPECT_EQ(places_of(folder.path()).size(), 1U);
  fs::remove(folder.path() / "filler");
  EXPECT_TRUE(works(store->append(id, {user("second")}, {})));
}

TEST(SessionsWithAFileSizeLimit, FailTheWriteAndKeepTheRest) {
  const TemporaryFolder folder;
  must(open_at(folder.path())->create(session("s")));
  const SessionId id = session_id("s");
  const pid_t child = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{100'000, 100'000};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) {
      return 2;
    }
    const auto store = open_at(folder.path());
    for (std::int64_t head = 0; head < 100; ++head) {
      const auto done = store->append(id, {user(std::string(5'000, 'x'))}, {});
      if (!done) {
        const auto there = read_all(*store, id);
        const bool good = done.error().code == Code::io && there && head > 10 &&
                          static_cast<std::int64_t>(there->size()) == head;
        return good && places_of(folder.path()).size() == 1 ? 0 : 3;
      }
    }
    return 4;
  });
  EXPECT_EQ(exit_code_of(child), 0);
  EXPECT_TRUE(works(open_at(folder.path())->append(id, {user("x")}, {})));
}

}  // namespace
}  // namespace reprise::test
