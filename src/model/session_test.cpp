#include "reprise/session.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <vector>

#include "reprise/json.h"

namespace reprise {
namespace {

TEST(Todos, RoundTripWithUnknownFields) {
  const std::vector<Todo> todos = {
      {"Run tests", TodoStatus::in_progress, "Running tests", {}},
      {"Ship", TodoStatus::pending, "", {{"priority", *RawJson::parse("1.0")}}},
  };
  const auto back = todos_from_json(todos_to_json(todos));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, todos);
}

TEST(Todos, AcceptTheOtherSpellingAndKeepUnknownStates) {
  const auto todos =
      todos_from_json(R"([{"content":"a","status":"blocked","activeForm":"Doing a"}])");
  ASSERT_TRUE(todos);
  const std::vector<Todo> expected = {
      {"a", TodoStatus::pending, "Doing a", {{"status", *RawJson::parse("\"blocked\"")}}}};
  EXPECT_EQ(*todos, expected);
  EXPECT_FALSE(todos_from_json("{}"));
  EXPECT_FALSE(todos_from_json("[1]"));
}

TEST(Todos, AnUnknownStateBesideAKnownOneIsReadAgainAsItWas) {
  const auto todos =
      todos_from_json(R"([{"content":"a","status":"blocked","status":"in_progress"},)"
                      R"({"content":"b","status":"completed","status":"blocked"}])");
  ASSERT_TRUE(todos);
  EXPECT_EQ(todos->front().status, TodoStatus::in_progress);
  EXPECT_EQ(todos->back().status, TodoStatus::completed);
  EXPECT_EQ(todos_from_json(todos_to_json(*todos)), *todos);
}

TEST(Owner, ThisProcessLives) {
  EXPECT_TRUE(is_alive(this_process()));
}

TEST(Owner, AProcessThatEndedDoesNot) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  Owner owner = this_process();
  owner.pid = child;
  owner.started += 0;
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(is_alive(owner));
}

// Its parent may take a while to ask how it ended, or never ask.
TEST(Owner, AProcessThatEndedIsGoneBeforeItsParentHasNoticed) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::int64_t started = this_process().started;
    ::_exit(::write(ends[1], &started, sizeof started) == sizeof started ? 0 : 1);
  }
  Owner owner = this_process();
  owner.pid = child;
  ASSERT_EQ(::read(ends[0], &owner.started, sizeof owner.started),
            static_cast<ssize_t>(sizeof owner.started));
  ::close(ends[0]);
  ::close(ends[1]);
  siginfo_t how{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &how, WEXITED | WNOWAIT), 0);
  EXPECT_FALSE(is_alive(owner));
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
}

TEST(Owner, ALaterProcessWithTheSamePidIsAnother) {
  Owner owner = this_process();
  owner.started -= 1;
  EXPECT_FALSE(is_alive(owner));
}

TEST(Owner, AnEarlierBootIsGoneAndAnotherHostUnknown) {
  Owner owner = this_process();
  const std::string name = owner.host.substr(0, owner.host.find('/'));
  owner.host = name + "/other-boot";
  EXPECT_FALSE(is_alive(owner));
  owner.host = "elsewhere.example/boot";
  EXPECT_TRUE(is_alive(owner));
}

}  // namespace
}  // namespace reprise
