// What is acknowledged survives: kill -9 anywhere, other processes, full disks. The file parses at
// any time.
//
// REPRISE_LONG=1 kills ten times as often.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
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
#include "support/build.h"
#include "support/child.h"
#include "support/must.h"
#include "support/small_disk.h"
#include "support/temporary_folder.h"

namespace reprise::test {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<Store> open_at(const fs::path& folder, const StoreOptions& options = {}) {
  return must(open_context_store(folder / "openai.json", options));
}

// A turn as the engine stores it: the question and that it is being answered, pieces, the answer.
bool add_turn(Store& store, const SessionId& id, std::int64_t number, std::int64_t& head) {
  const OperationId answer = operation_id(cat("answer-", ::getpid(), "-", number));
  const Time when = at(static_cast<int>(number));
  const auto asked =
      store.append(id, {user(cat("question ", number), when)},
                   {.operation = operation_id(cat("ask-", ::getpid(), "-", number)),
                    .begin_partial = PartialStart{answer, this_process(), "p", "m", when}});
  if (!asked ||
      !store.offers().partials->add(id, answer, std::vector<Block>{TextBlock{"ans", {}}})) {
    return false;
  }
  const auto done =
      store.append(id, {assistant(cat("answer ", number), when)}, {.end_partial = answer});
  head = done ? done->head.value : 0;
  return done.has_value();
}

// Turns, the trash and back, for ever; says the head after each.
int work(const fs::path& folder, int out) {
  const auto store = open_at(folder);
  const SessionId id = session_id("s");
  auto session = must(get(*store, id));
  if (session.info.state == SessionState::trashed) {
    must(store->offers().trash->restore(id));
  }
  if (const auto running = must(store->offers().partials->find(id)); running) {
    must(store->append(id, {assistant("cut")}, {.end_partial = running->answer}));
  }
  std::int64_t head = must(get(*store, id)).info.head.value;
  for (std::int64_t number = head;; ++number) {
    if (!add_turn(*store, id, number, head) || ::write(out, &head, sizeof head) < 0) {
      return 1;
    }
    if (number % 3 == 0) {
      must(store->offers().trash->trash(id, at(1)));
      must(store->offers().trash->restore(id));
    }
  }
}

void check(const fs::path& folder, std::int64_t acknowledged) {
  const auto store = open_at(folder);
  const SessionPage page = must(
      store->list({.states = {SessionState::active, SessionState::closed, SessionState::trashed}}));
  ASSERT_EQ(page.sessions.size(), 1U) << "in one place";
  EXPECT_EQ(page.damage, std::vector<Damage>{});
  const auto there = must(read_all(*store, session_id("s")));
  ASSERT_GE(static_cast<std::int64_t>(there.size()), acknowledged);
  for (std::size_t i = 0; i < there.size(); ++i) {
    const bool is_answer = there[i].role == role::kAssistant;
    ASSERT_EQ(is_answer, i % 2 == 1) << "each question is followed by its answer: " << i;
    const std::string text = plain_text(there[i]);
    if (is_answer && text != "cut") {
      ASSERT_EQ(text.substr(7), plain_text(there[i - 1]).substr(9));
    }
  }
}

TEST(ContextKilled, LosesNothingThatWasAcknowledged) {
  const TemporaryFolder folder;
  must(open_at(folder.path())->create(session("s")));
  std::minstd_rand random(5);
  const int rounds = variable("REPRISE_LONG").empty() ? 20 : 250;
  for (int round = 0; round < rounds; ++round) {
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
    const pid_t child = in_child([&] { return work(folder.path(), pipe[1]); });
    ::close(pipe[1]);
    std::int64_t head = 0;
    // The first one at least; then death at any point.
    ASSERT_EQ(::read(pipe[0], &head, sizeof head), static_cast<ssize_t>(sizeof head));
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 100'000));
    ::kill(child, SIGKILL);
    std::int64_t last = head;
    while (::read(pipe[0], &head, sizeof head) == static_cast<ssize_t>(sizeof head)) {
      last = head;
    }
    ::close(pipe[0]);
    EXPECT_EQ(exit_code_of(child), 128 + SIGKILL);
    check(folder.path(), last);
    if (testing::Test::HasFatalFailure()) {
      FAIL() << "in round " << round;
    }
  }
}

// Each turn is one batch, as a program writes it that has its answer at once.
TEST(ContextTwoProcesses, AddTheirTurnsWholeWhileAThirdReads) {
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
                                        {.operation = operation_id(cat(who, "-", turn))});
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
  EXPECT_NE(must(read_file(folder.path() / "openai.json")).find("\"total_turns\": 400"),
            std::string::npos);
}

TEST(ContextOnAFullDisk, FailsAndKeepsTheOldFileByteForByte) {
  const TemporaryFolder folder;
  const SmallDisk disk(folder.path());
  if (!disk.is_mounted()) {
    GTEST_SKIP() << "mounting a small disk needs root";
  }
  const auto store = open_at(folder.path());
  const SessionId id = session_id("s");
  must(store->create(session("s")));
  must(store->append(id, {user("first")}, {}));
  const std::string before = must(read_file(folder.path() / "openai.json"));
  disk.fill();
  EXPECT_TRUE(fails(store->append(id, {user(std::string(50'000, 'x'))}, {}), Code::io));
  EXPECT_EQ(must(read_file(folder.path() / "openai.json")), before);
  EXPECT_EQ(texts(must(read_all(*store, id))), std::vector<std::string>{"first"});
  EXPECT_EQ(texts(must(read_all(*open_at(folder.path(), {.access = Access::read}), id))),
            std::vector<std::string>{"first"});
  fs::remove(folder.path() / "filler");
  EXPECT_TRUE(works(store->append(id, {user("second")}, {})));
  EXPECT_EQ(must(read_all(*open_at(folder.path()), id)).size(), 2U);
}

TEST(ContextWithALongLine, ReadsAndWritesIt) {
  const bool is_long = !variable("REPRISE_LONG").empty();
  const std::size_t size = is_long ? 90'000'000 : 9'000'000;
  const TemporaryFolder folder;
  must(replace_file(
      folder.path() / "openai.json",
      cat(R"({"conversation":[{"role":"user","content":")", std::string(size, 'x'), R"("}]})")));
  const auto store = open_at(folder.path());
  const SessionId id = must(store->list({})).sessions.front().id;
  must(store->append(id, {assistant("that was long")}, {}));
  const auto there = must(read_all(*open_at(folder.path()), id));
  ASSERT_EQ(there.size(), 2U);
  EXPECT_EQ(plain_text(there.front()).size(), size);
}

}  // namespace
}  // namespace reprise::test
