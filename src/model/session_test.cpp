#include "reprise/session.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

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

TEST(Todos, UnknownStateBesideAKnownOneRoundTrips) {
  const auto todos =
      todos_from_json(R"([{"content":"a","status":"blocked","status":"in_progress"},)"
                      R"({"content":"b","status":"completed","status":"blocked"}])");
  ASSERT_TRUE(todos);
  EXPECT_EQ(todos->front().status, TodoStatus::in_progress);
  EXPECT_EQ(todos->back().status, TodoStatus::completed);
  EXPECT_EQ(todos_from_json(todos_to_json(*todos)), *todos);
}

using std::chrono::hours;
using std::chrono::seconds;

// The clocks of an observer, `later` than the owner's lease.
Lease after(const Owner& owner, std::chrono::microseconds later) {
  Lease now = owner.lease;
  now.renewed_at += later;
  now.uptime += later;
  return now;
}

std::string own_name() {
  const std::string host = this_process().host;
  return host.substr(0, host.find('/'));
}

pid_t ended_child() {
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(0);
  }
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
  return child;
}

TEST(Owner, ThisProcessLives) {
  EXPECT_EQ(state_of(this_process()), OwnerState::alive);
}

TEST(Owner, AnEndedProcessIsGone) {
  Owner owner = this_process();
  owner.pid = ended_child();
  EXPECT_EQ(state_of(owner), OwnerState::gone);
}

// Its parent may reap it late, or never.
TEST(Owner, AnEndedProcessIsGoneBeforeItIsReaped) {
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
  EXPECT_EQ(state_of(owner), OwnerState::gone);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
}

TEST(Owner, ALaterProcessWithTheSamePidIsAnother) {
  Owner owner = this_process();
  owner.started -= 1;
  EXPECT_EQ(state_of(owner), OwnerState::gone);
}

// A pid is meaningless in another namespace, whether it exists here or not.
TEST(Owner, AnotherContainersProcessIsJudgedByItsLease) {
  Owner owner = this_process();
  owner.pid_namespace += 1;
  owner.pid = ended_child();
  EXPECT_EQ(state_of(owner, after(owner, seconds(29))), OwnerState::alive);
  EXPECT_EQ(state_of(owner, after(owner, seconds(30))), OwnerState::silent);
  owner.host = "other-name" + owner.host.substr(owner.host.find('/'));  // the same kernel
  EXPECT_EQ(state_of(owner, after(owner, seconds(29))), OwnerState::alive);
  owner.pid_namespace = 0;  // unknown
  EXPECT_EQ(state_of(owner, after(owner, seconds(29))), OwnerState::alive);
}

TEST(Owner, AStoppedProcessLosesItsLease) {
  const Owner owner = this_process();
  EXPECT_EQ(state_of(owner, after(owner, seconds(29))), OwnerState::alive);
  EXPECT_EQ(state_of(owner, after(owner, seconds(30))), OwnerState::silent);
}

TEST(Owner, AClockThatLeapsChangesNothingWithinABoot) {
  Owner owner = this_process();
  owner.pid_namespace += 1;
  for (const hours leap : {hours(1), hours(-1)}) {
    Lease now = after(owner, seconds(5));
    now.renewed_at += leap;
    EXPECT_EQ(state_of(owner, now), OwnerState::alive);
    now.uptime += seconds(30);
    EXPECT_EQ(state_of(owner, now), OwnerState::silent);
  }
}

// In both directions: a silent owner is watched before it counts as gone.
TEST(Owner, AnotherHostsProcessIsJudgedByTheClock) {
  Owner owner = this_process();
  owner.lease.uptime = {};
  for (const std::string& host : {std::string("elsewhere.example/boot"), own_name() + "/other"}) {
    owner.host = host;
    EXPECT_EQ(state_of(owner, after(owner, seconds(29))), OwnerState::alive);
    EXPECT_EQ(state_of(owner, after(owner, seconds(-29))), OwnerState::alive);
    EXPECT_EQ(state_of(owner, after(owner, seconds(30))), OwnerState::silent);
    EXPECT_EQ(state_of(owner, after(owner, hours(1))), OwnerState::silent);
    EXPECT_EQ(state_of(owner, after(owner, hours(-1))), OwnerState::silent);
  }
}

TEST(Owner, WithoutALeaseTheBootAndTheAgeCount) {
  Owner owner = this_process();
  owner.pid_namespace = 0;
  owner.lease = {.renewed_at = owner.lease.renewed_at, .uptime = {}, .length = {}};
  EXPECT_EQ(state_of(owner, after(owner, hours(3))), OwnerState::alive);
  const std::int64_t pid = std::exchange(owner.pid, ended_child());
  EXPECT_EQ(state_of(owner), OwnerState::gone);
  owner.pid = pid;
  owner.host = own_name() + "/other-boot";
  EXPECT_EQ(state_of(owner), OwnerState::gone);
  owner.host = "elsewhere.example/boot";
  EXPECT_EQ(state_of(owner, after(owner, seconds(3599))), OwnerState::alive);
  EXPECT_EQ(state_of(owner, after(owner, hours(1))), OwnerState::silent);
  EXPECT_GT(grace_period_for(owner.lease), seconds(1));
}

TEST(ShortId, StartsAtTheRandomEnd) {
  const auto of = [](std::string_view id) { return short_id(*SessionId::parse(id)); };
  EXPECT_EQ(of("b0416d7c-2e49-4408-9615-e32c41d08738"), "e32c41d0");
  EXPECT_EQ(short_id(*SessionId::parse("b0416d7c-2e49-4408-9615-e32c41d08738"), 99),
            "e32c41d08738961544082e49b0416d7c");
  for (const std::string_view other :
       {"work", "B0416D7C-2E49-4408-9615-E32C41D08738", "b0416d7c-2e49-4408-9615-e32c41d0873g",
        "b0416d7c2e49-4408-9615-e32c41d08738-"}) {
    EXPECT_EQ(of(other), other);
  }
}

TEST(ShortId, APatternFindsIt) {
  EXPECT_EQ(short_id_pattern("e32c41d08738961", '_'), "________-____-____-961_-e32c41d08738");
  EXPECT_EQ(short_id_pattern("", '.'), "........-....-....-....-............");
  for (const std::string_view none : {"E3", "x", "%", "e32c41d08738961544082e49b0416d7c0"}) {
    EXPECT_EQ(short_id_pattern(none, '_'), std::nullopt) << none;
  }
}

}  // namespace
}  // namespace reprise
