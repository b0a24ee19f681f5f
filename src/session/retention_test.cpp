#include "session/retention.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "engine/testing/faulty_store.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "reprise/sessions.h"

namespace reprise {
namespace {

using std::chrono::hours;

constexpr hours kAge{24 * 30};
constexpr hours kDay{24};

ClockReading at(hours time, hours uptime, std::string boot = "boot") {
  return {Time{std::chrono::hours(490'000) + time}, std::move(boot),
          std::chrono::seconds(uptime).count()};
}

// Refuses to move the session "b"; "c" gets a message just before it is moved.
class HalfTrash final : public Trash {
 public:
  explicit HalfTrash(Store& store) : store_(store) {}
  Result<> trash(const SessionId& id, Time when) override {
    if (id.str() == "b") {
      return fail(Code::io, "no space");
    }
    if (id.str() == "c") {
      REPRISE_TRY(store_.append(id, {Message{.role = "user"}}, {}));
    }
    return inner().trash(id, when);
  }
  Result<> restore(const SessionId& id) override { return inner().restore(id); }
  Result<> purge(const SessionId& id) override { return inner().purge(id); }

 private:
  Trash& inner() { return *store_.capabilities().trash; }
  Store& store_;
};

class ClockTrustTest : public testing::Test {
 protected:
  bool is_trusted(const ClockReading& now) {
    return is_clock_trusted(folder_ / "state", now, kAge);
  }

  const test::TemporaryFolder temporary_;
  std::filesystem::path folder_ = temporary_.path();
};

TEST_F(ClockTrustTest, TrustsTimeThatMatchesTheUptime) {
  EXPECT_TRUE(is_trusted(at(hours(0), hours(0))));
  EXPECT_TRUE(is_trusted(at(40 * kDay, 40 * kDay)));
  EXPECT_TRUE(is_trusted(at(41 * kDay, hours(1), "restarted")));
}

TEST_F(ClockTrustTest, DistrustsAJumpUntilTheSameTimeHasPassed) {
  EXPECT_TRUE(is_trusted(at(hours(0), hours(0))));
  const hours jump = 4000 * kDay;
  EXPECT_FALSE(is_trusted(at(jump, hours(1))));
  EXPECT_FALSE(is_trusted(at(jump + 29 * kDay, hours(1) + 29 * kDay)));
  EXPECT_TRUE(is_trusted(at(jump + 31 * kDay, hours(1) + 31 * kDay)));
}

TEST_F(ClockTrustTest, DistrustsAClockThatIsSetBack) {
  EXPECT_TRUE(is_trusted(at(100 * kDay, 100 * kDay)));
  EXPECT_FALSE(is_trusted(at(60 * kDay, 100 * kDay)));
  EXPECT_FALSE(is_trusted(at(100 * kDay, 100 * kDay)));
}

TEST_F(ClockTrustTest, DistrustsAClockThatRunsTooFast) {
  bool always_trusted = true;
  for (int day = 0; day < 60; ++day) {
    always_trusted = is_trusted(at(day * kDay, day * kDay / 100)) && always_trusted;
  }
  EXPECT_FALSE(always_trusted);
  EXPECT_FALSE(is_trusted(at(61 * kDay, 61 * kDay / 100)));
}

TEST_F(ClockTrustTest, DistrustsALongTimeAcrossAReboot) {
  EXPECT_TRUE(is_trusted(at(hours(0), hours(0))));
  EXPECT_FALSE(is_trusted(at(31 * kDay, hours(0), "restarted")));
}

TEST_F(ClockTrustTest, DistrustsAClockThatIsSetBackAcrossAReboot) {
  EXPECT_TRUE(is_trusted(at(100 * kDay, 100 * kDay)));
  EXPECT_FALSE(is_trusted(at(60 * kDay, hours(1), "restarted")));
}

TEST_F(ClockTrustTest, IgnoresAnUnreadableRecord) {
  ASSERT_TRUE(make_private_folders(folder_ / "state"));
  ASSERT_TRUE(replace_file(folder_ / "state" / "clock.json", "{\"time\":\"some day"));
  EXPECT_TRUE(is_trusted(at(hours(0), hours(0))));
  EXPECT_FALSE(is_trusted(at(4000 * kDay, hours(0))));
}

TEST_F(ClockTrustTest, LeavesSessionsThatAreAnswering) {
  const auto store = open_memory_store();
  const SessionId id = *SessionId::parse("01990000-0000-7000-8000-000000000001");
  const OperationId answer = *OperationId::parse("answer");
  const Time long_ago = system_clock().now() - 2 * kAge;
  ASSERT_TRUE(store->create({.info = {.id = id, .created_at = long_ago, .updated_at = long_ago}}));
  ASSERT_TRUE(store->append(
      id, {},
      {.begin_partial = PartialStart{
           .answer = answer, .owner = this_process(), .provider = "echo", .model = "echo"}}));
  ASSERT_TRUE(
      store->update(id, {.state = SessionState::closed, .closed_at = std::optional(long_ago)}));
  EXPECT_EQ(apply_retention(*store, kAge, folder_ / "state").moved, 0U);
  ASSERT_TRUE(store->append(id, {}, {.end_partial = answer}));
  EXPECT_EQ(apply_retention(*store, kAge, folder_ / "state").moved, 1U);
}

// One that cannot be moved does not hold up the others.
TEST_F(ClockTrustTest, MovesWhatCanBeMoved) {
  const auto store = open_memory_store();
  const Time long_ago = system_clock().now() - 2 * kAge;
  for (const char* name : {"a", "b", "c"}) {
    const SessionId id = *SessionId::parse(name);
    ASSERT_TRUE(store->create({.info = {.id = id, .created_at = long_ago}}));
    ASSERT_TRUE(
        store->update(id, {.state = SessionState::closed, .closed_at = std::optional(long_ago)}));
  }
  HalfTrash trash(*store);
  FaultyStore half(*store);
  half.capabilities_for_test().trash = &trash;
  const RetentionResult result = apply_retention(half, kAge, folder_ / "state");
  EXPECT_EQ(result.moved, 2U);
  ASSERT_TRUE(result.error);
  EXPECT_EQ(result.error->message, "no space");
}

// Another process opens it after it was listed, and closes it.
TEST_F(ClockTrustTest, LeavesWhatWasClosedAgainMeanwhile) {
  const auto store = open_memory_store();
  const SessionId id = *SessionId::parse("a");
  const Time long_ago = system_clock().now() - 2 * kAge;
  ASSERT_TRUE(store->create({.info = {.id = id, .created_at = long_ago}}));
  const auto close = [&](Time when) {
    return store->update(id, {.state = SessionState::closed, .closed_at = std::optional(when)});
  };
  ASSERT_TRUE(close(long_ago));
  FaultyStore watched(*store);
  watched.fails = [&](int call) {
    EXPECT_TRUE(call != 1 || close(system_clock().now()));  // 0: the list
    return false;
  };
  EXPECT_EQ(apply_retention(watched, kAge, folder_ / "state").moved, 0U);
  EXPECT_EQ(get(*store, id)->info.state, SessionState::closed);
}

TEST(DiscardIfEmpty, LeavesTodos) {
  const auto store = open_memory_store();
  const SessionId id = *SessionId::parse("a");
  ASSERT_TRUE(store->create({.info = {.id = id}}));
  ASSERT_TRUE(store->capabilities().todos->edit_todos(id, [](std::vector<Todo>& todos) -> Result<> {
    todos.push_back({"Write it", TodoStatus::pending, "", {}});
    return {};
  }));
  EXPECT_FALSE(discard_if_empty(*store, id));
  EXPECT_TRUE(store->find(id)->has_value());
}

// Another process adds a message just before the session is moved to the trash.
TEST(DiscardIfEmpty, LeavesWhatWasAddedMeanwhile) {
  const auto store = open_memory_store();
  const SessionId id = *SessionId::parse("c");
  ASSERT_TRUE(store->create({.info = {.id = id}}));
  HalfTrash trash(*store);
  FaultyStore half(*store);
  half.capabilities_for_test().trash = &trash;
  EXPECT_FALSE(discard_if_empty(half, id));
  const auto session = store->find(id);
  ASSERT_TRUE(session && *session);
  EXPECT_EQ((*session)->info.state, SessionState::active);
  EXPECT_EQ((*session)->info.head, Seq{1});
}

}  // namespace
}  // namespace reprise
