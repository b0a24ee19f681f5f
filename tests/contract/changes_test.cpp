// Changes since a position: everything that an index of the store has to follow, or the answer that
// they are unknown.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "base/text.h"
#include "contract/store_contract.h"
#include "reprise/capabilities.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

using Changed = std::set<std::string>;

class Follower {
 public:
  explicit Follower(ChangeReader& reader) : reader_(reader) { (void)next(); }

  // The changes since the last call.
  SessionChanges next() {
    SessionChanges changes = must(reader_.changes_since(position_));
    position_ = changes.position;
    return changes;
  }
  Changed changed() {
    const SessionChanges changes = next();
    EXPECT_TRUE(changes.is_known);
    EXPECT_EQ(changes.trashed, std::nullopt);
    return names(changes);
  }
  static Changed names(const SessionChanges& changes) {
    Changed ids;
    for (const SessionInfo& info : changes.sessions) {
      EXPECT_TRUE(ids.insert(info.id.str()).second) << "each once";
    }
    return ids;
  }

 private:
  ChangeReader& reader_;
  std::string position_;
};

TEST_P(StoreContract, ChangesSinceAPosition) {
  REPRISE_NEEDS(capabilities().change_reader && capabilities().many_sessions);
  const SessionId a = create("a", messages(2));
  const SessionId b = create(session("b", at(900)), messages(2, "m", at(900)));
  Follower follower(*capabilities().change_reader);
  EXPECT_EQ(follower.changed(), Changed{});
  append(a, messages(1, "older than what is there", at(1)));
  EXPECT_EQ(follower.changed(), Changed{"a"});
  EXPECT_EQ(follower.changed(), Changed{});
  create(session("old", at(-1000)));
  append(b, messages(1));
  EXPECT_EQ(follower.changed(), (Changed{"b", "old"}));
  reopen();
  Follower other(*capabilities().change_reader);
  append(a, messages(1));
  const SessionChanges changes = other.next();
  ASSERT_EQ(changes.sessions.size(), 1U);
  EXPECT_EQ(changes.sessions[0], found(a).info);
}

TEST_P(StoreContract, ChangesOfAnEmptyStore) {
  REPRISE_NEEDS(capabilities().change_reader);
  Follower follower(*capabilities().change_reader);
  EXPECT_EQ(follower.changed(), Changed{});
  create("a", messages(1));
  EXPECT_EQ(follower.changed(), Changed{"a"});
}

TEST_P(StoreContract, RewindsAndForksAreChanges) {
  REPRISE_NEEDS(capabilities().change_reader && capabilities().rewriting && capabilities().forking);
  const SessionId a = create("a", messages(4));
  create("b", messages(1));
  Follower follower(*capabilities().change_reader);
  must(capabilities().rewriting->replace_suffix(a, {2}, {}, {}));
  EXPECT_EQ(follower.changed(), Changed{"a"});
  must(capabilities().rewriting->replace_suffix(a, {1}, messages(2, "new"), {}));
  EXPECT_EQ(follower.changed(), Changed{"a"});
  must(capabilities().forking->fork(a, {1}, session("fork")));
  EXPECT_EQ(follower.changed(), Changed{"fork"});
}

// Its messages were the last ones in the store.
TEST_P(StoreContract, ARewindOfTheNewestMessagesIsAChange) {
  REPRISE_NEEDS(capabilities().change_reader && capabilities().rewriting);
  const SessionId a = create("a", messages(4));
  Follower follower(*capabilities().change_reader);
  must(capabilities().rewriting->replace_suffix(a, {2}, {}, {}));
  EXPECT_EQ(follower.changed(), Changed{"a"});
  must(store().append(a, messages(1, "new"), {}));
  EXPECT_EQ(follower.changed(), Changed{"a"});
}

TEST_P(StoreContract, ChangesOfTheTrashAreReported) {
  REPRISE_NEEDS(capabilities().change_reader && capabilities().trash);
  const SessionId a = create("a", messages(1));
  create("b", messages(1));
  Follower follower(*capabilities().change_reader);
  must(capabilities().trash->trash(a, at(5)));
  SessionChanges changes = follower.next();
  EXPECT_TRUE(changes.is_known);
  EXPECT_EQ(changes.trashed, std::vector{a});
  EXPECT_EQ(follower.changed(), Changed{});
  must(capabilities().trash->restore(a));
  changes = follower.next();
  EXPECT_TRUE(changes.is_known);
  EXPECT_EQ(changes.trashed, std::vector<SessionId>());
  EXPECT_EQ(follower.changed(), Changed{});
}

// Whichever session was purged, and whatever took its place afterwards.
TEST_P(StoreContract, ChangesAreUnknownAfterAPurge) {
  REPRISE_NEEDS(capabilities().change_reader && capabilities().trash);
  for (const std::string_view purged : {"a", "b", "c"}) {
    for (const int added : {0, 1, 2}) {
      for (const std::string_view id : {"a", "b", "c"}) {
        create(id, messages(3));
      }
      Follower follower(*capabilities().change_reader);
      const SessionId gone = session_id(purged);
      must(capabilities().trash->trash(gone, at(5)));
      must(capabilities().trash->purge(gone));
      for (int i = 0; i < added; ++i) {
        create(cat("new", i), messages(4));
      }
      EXPECT_FALSE(follower.next().is_known) << purged << " " << added;
      EXPECT_EQ(follower.changed(), Changed{});
      for (const SessionInfo& info : listed()) {
        must(capabilities().trash->purge(info.id));
      }
    }
  }
}

TEST_P(StoreContract, InvalidPositionsAreRefused) {
  REPRISE_NEEDS(capabilities().change_reader);
  create("a", messages(1));
  for (const std::string_view position :
       {"", "1", "1 ", "1 1 1 1 1 1", "1 1 1 1 1 1 1", "1 x 1 1 1 1 1", "2 0 0 0 0 0 0",
        "1 99999999999999999999 1 1 1 1 1", "1 -1 -1 -1 -1 -1 -1", "\xff'\"", "1 0 0 0 0 0 0 0"}) {
    const SessionChanges changes = must(capabilities().change_reader->changes_since(position));
    EXPECT_FALSE(changes.is_known) << position;
    EXPECT_NE(changes.position, "");
  }
}

// The state of a session that an index would store.
struct Followed {
  Seq head;
  std::string folder;
  std::vector<Message> messages;
  friend bool operator==(const Followed&, const Followed&) = default;
};

// Compares the changes with the whole list after each of many changes.
TEST_P(StoreContract, NoChangeIsMissed) {
  REPRISE_NEEDS(capabilities().change_reader && capabilities().rewriting && capabilities().trash &&
                capabilities().forking);
  std::mt19937 random(7);
  std::map<std::string, Followed> seen;
  Follower follower(*capabilities().change_reader);
  int unknown = 0;
  int count = 0;
  const auto all = [&] {
    return listed({.states = {SessionState::active, SessionState::closed, SessionState::archived,
                              SessionState::trashed}});
  };
  const auto change = [&] {
    const std::vector<SessionInfo> sessions = all();
    if (sessions.size() < 3 || (sessions.size() < 12 && random() % 6 == 0)) {
      create(session(cat("s", count++), at(static_cast<int>(random() % 500))),
             messages(static_cast<int>(random() % 3)));
      return;
    }
    const SessionInfo& one = sessions[random() % sessions.size()];
    const bool is_trashed = one.state == SessionState::trashed;
    const auto any_seq = [&] { return Seq{static_cast<std::int64_t>(random() % 9)}; };
    switch (random() % 9) {
      case 0:
        (void)capabilities().rewriting->replace_suffix(
            one.id, any_seq(), messages(static_cast<int>(random() % 3), cat("r", count++)), {});
        return;
      case 1:
        (void)capabilities().forking->fork(one.id, any_seq(), session(cat("f", count++)));
        return;
      case 2:
        (void)capabilities().trash->trash(one.id, at(5));
        return;
      case 3:
        (void)capabilities().trash->restore(one.id);
        return;
      case 4:
        (void)(random() % 4 == 0 ? capabilities().trash->purge(one.id) : Result<>());
        return;
      case 5:
        (void)store().update(one.id, {.working_dir = cat("/", random() % 3)});
        return;
      default:
        if (!is_trashed) {
          append(one.id, messages(1, cat("a", count++), at(static_cast<int>(random() % 500))));
        }
    }
  };
  for (int round = 0; round < 400; ++round) {
    for (auto i = random() % 3; i < 3; ++i) {
      change();
    }
    const SessionChanges changes = follower.next();
    unknown += changes.is_known ? 0 : 1;
    std::map<std::string, Followed> now;
    Changed differing;
    for (const SessionInfo& info : all()) {
      const std::string id = info.id.str();
      now[id] = {info.head, info.working_dir, stored(info.id)};
      if (!seen.contains(id) || seen[id] != now[id]) {
        differing.insert(id);
      }
    }
    if (changes.is_known) {
      const Changed changed_names = Follower::names(changes);
      EXPECT_TRUE(std::ranges::includes(changed_names, differing)) << round;
      for (const auto& [id, what] : seen) {
        EXPECT_TRUE(now.contains(id)) << id << " was purged";
      }
    }
    seen = std::move(now);
  }
  EXPECT_LT(unknown, 200) << "it is of no use";
}

}  // namespace
}  // namespace reprise::test
