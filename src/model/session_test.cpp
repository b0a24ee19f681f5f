#include "reprise/session.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

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
