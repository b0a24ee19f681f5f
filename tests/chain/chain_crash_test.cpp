// What is acknowledged survives: kill -9 anywhere, other processes, full disks.
//
// REPRISE_LONG=1 kills ten times as often.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <chrono>
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
#include "support/build.h"
#include "support/child.h"
#include "support/must.h"
#include "support/small_disk.h"
#include "support/temporary_folder.h"

namespace reprise::test {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<Store> open_at(const fs::path& folder, const StoreOptions& options = {}) {
  return must(open_chain_store(folder / "conversations.json", options));
}

Message answered(const std::string& response) {
  Message message;
  message.role = role::kAssistant;
  message.provider = "openai-responses";
  message.response_id = response;
  message.created_at = at(1);
  return message;
}

// Ids, the trash and back, for ever; says how many ids there are after each.
int work(const fs::path& folder, int out) {
  const auto store = open_at(folder);
  const SessionId id = session_id("s");
  const Session session = must(get(*store, id));
  if (session.info.state == SessionState::trashed) {
    must(store->offers().trash->restore(id));
  }
  for (auto number = std::ssize(session.response_chain);; ++number) {
    const std::int64_t count = number + 1;
    if (!store->append(id, {answered(cat("resp_", number))}, {}) ||
        ::write(out, &count, sizeof count) < 0) {
      return 1;
    }
    if (number % 3 == 0) {
      must(store->offers().trash->trash(id, at(1)));
      must(store->offers().trash->restore(id));
    }
  }
}

TEST(ChainKilled, LosesNothingThatWasAcknowledged) {
  const TemporaryFolder folder;
  must(open_at(folder.path())->create(session("s")));
  std::minstd_rand random(3);
  const int rounds = variable("REPRISE_LONG").empty() ? 20 : 250;
  for (int round = 0; round < rounds; ++round) {
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
    const pid_t child = in_child([&] { return work(folder.path(), pipe[1]); });
    ::close(pipe[1]);
    std::int64_t count = 0;
    // The first one at least; then death at any point.
    ASSERT_EQ(::read(pipe[0], &count, sizeof count), static_cast<ssize_t>(sizeof count));
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 100'000));
    ::kill(child, SIGKILL);
    std::int64_t last = count;
    while (::read(pipe[0], &count, sizeof count) == static_cast<ssize_t>(sizeof count)) {
      last = count;
    }
    ::close(pipe[0]);
    EXPECT_EQ(exit_code_of(child), 128 + SIGKILL);
    const auto store = open_at(folder.path());
    const SessionPage page =
        must(store->list({.states = {SessionState::active, SessionState::trashed}}));
    ASSERT_EQ(page.sessions.size(), 1U) << "in one place, in round " << round;
    ASSERT_EQ(page.damage, std::vector<Damage>{});
    const auto chain = must(get(*store, session_id("s"))).response_chain;
    ASSERT_GE(std::ssize(chain), last);
    for (std::size_t i = 0; i < chain.size(); ++i) {
      ASSERT_EQ(chain[i].response_id, cat("resp_", i));
    }
  }
}

TEST(ChainTwoProcesses, KeepAllIdsInTheirOrder) {
  constexpr int kTurns = 200;
  const TemporaryFolder folder;
  must(open_at(folder.path())->create(session("s")));
  const SessionId id = session_id("s");
  std::array<pid_t, 2> writers{};
  for (std::size_t who = 0; who < writers.size(); ++who) {
    writers.at(who) = in_child([&] {
      const auto store = open_at(folder.path(), {.busy_timeout = std::chrono::minutes(2)});
      for (int turn = 0; turn < kTurns; ++turn) {
        if (!store->append(id, {answered(cat(who, "-", turn))},
                           {.operation = operation_id(cat(who, "-", turn))})) {
          return 1;
        }
      }
      return 0;
    });
  }
  const pid_t reader = in_child([&] {
    std::size_t seen = 0;
    while (seen < 2 * kTurns) {
      const auto store = open_at(folder.path(), {.access = Access::read});
      const auto page = store->list({});
      const auto session = get(*store, id);
      if (!page || !page->damage.empty() || !session || session->response_chain.size() < seen) {
        return 1;
      }
      seen = session->response_chain.size();
    }
    return 0;
  });
  for (const pid_t writer : writers) {
    EXPECT_EQ(exit_code_of(writer), 0);
  }
  EXPECT_EQ(exit_code_of(reader), 0);
  const auto chain = must(get(*open_at(folder.path()), id)).response_chain;
  ASSERT_EQ(chain.size(), 2U * kTurns);
  std::array<int, 2> next{};
  for (const ResponseLink& link : chain) {
    const auto who = static_cast<std::size_t>(link.response_id.front() - '0');
    EXPECT_EQ(link.response_id, cat(who, "-", next.at(who)++));
  }
}

TEST(ChainOnAFullDisk, FailsAndKeepsTheOldFileByteForByte) {
  const TemporaryFolder folder;
  const SmallDisk disk(folder.path());
  if (!disk.is_mounted()) {
    GTEST_SKIP() << "mounting a small disk needs root";
  }
  const auto store = open_at(folder.path());
  must(store->create(session("s")));
  const std::string before = must(read_file(folder.path() / "conversations.json"));
  disk.fill();
  EXPECT_TRUE(
      fails(store->append(session_id("s"), {answered(std::string(50'000, 'x'))}, {}), Code::io));
  EXPECT_TRUE(fails(store->offers().trash->trash(session_id("s"), at(1)), Code::io));
  EXPECT_EQ(must(read_file(folder.path() / "conversations.json")), before);
  EXPECT_EQ(must(open_at(folder.path(), {.access = Access::read})->list({})).sessions.size(), 1U);
  fs::remove(folder.path() / "filler");
  EXPECT_TRUE(works(store->append(session_id("s"), {answered("r")}, {})));
}

}  // namespace
}  // namespace reprise::test
