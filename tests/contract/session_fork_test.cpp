// Forks: sessions that share the beginning of another one.

#include <gtest/gtest.h>

#include "contract/store_contract.h"
#include "reprise/capabilities.h"
#include "reprise/store.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

using Texts = std::vector<std::string>;

TEST_P(StoreContract, AForkSharesTheBeginning) {
  REPRISE_NEEDS(capabilities().forking);
  const SessionId parent = create("parent", messages(4));
  const Session parent_before = found(parent);
  for (const std::int64_t at_seq : {0, 1, 3, 4}) {
    Session child = full_session("child-" + std::to_string(at_seq));
    ASSERT_TRUE(works(capabilities().forking->fork(parent, {at_seq}, child)));
    child.info.head = {at_seq};
    child.info.forked_from = ForkOrigin{parent, {at_seq}};
    EXPECT_EQ(found(child.info.id), child);
    EXPECT_EQ(stored(child.info.id), numbered(messages(static_cast<int>(at_seq))));
    reopen();
    EXPECT_EQ(found(child.info.id), child);
    EXPECT_EQ(stored(child.info.id), numbered(messages(static_cast<int>(at_seq))));
  }
  EXPECT_EQ(found(parent), parent_before);
}

// A running answer in the caller's value is ignored: only append() begins one.
TEST_P(StoreContract, NewSessionsHaveNoRunningAnswer) {
  Session session = reprise::test::session("parent");
  session.info.answering = this_process();
  const SessionId parent = create(session, messages(2));
  EXPECT_FALSE(found(parent).info.answering);
  if (capabilities().forking != nullptr) {
    Session child = reprise::test::session("child");
    child.info.answering = this_process();
    must(capabilities().forking->fork(parent, {1}, child));
    EXPECT_FALSE(found(child.info.id).info.answering);
  }
}

TEST_P(StoreContract, ASessionAppearsWithItsMessages) {
  REPRISE_NEEDS(capabilities().atomic_creation);
  const SessionId parent = create("parent", messages(2));
  Session child = full_session("child");
  child.info.forked_from = ForkOrigin{parent, {4}};
  std::vector<Message> words = messages(4);
  words[1].usage = usage("request", 10, 20);
  words[3].usage = usage("request", 10, 20);
  ASSERT_TRUE(works(capabilities().atomic_creation->create_with(child, words)));
  reopen();
  const Session now = found(child.info.id);
  EXPECT_EQ(now.info.head, Seq{4});
  EXPECT_EQ(now.info.forked_from, child.info.forked_from);
  EXPECT_EQ(now.info.updated_at, words.back().created_at);
  EXPECT_EQ(now.usage.output, TokenCount{20});
  EXPECT_EQ(stored(child.info.id), numbered(words));
  must(store().append(child.info.id, messages(1, "more", at(9)), {}));
  EXPECT_EQ(stored(child.info.id).size(), 5U);
  EXPECT_TRUE(fails(capabilities().atomic_creation->create_with(child, words), Code::conflict));
  ASSERT_TRUE(works(capabilities().atomic_creation->create_with(session("empty"), {})));
  EXPECT_EQ(stored(session_id("empty")).size(), 0U);
}

TEST_P(StoreContract, InvalidForksAreRefused) {
  REPRISE_NEEDS(capabilities().forking);
  const SessionId parent = create("parent", messages(2));
  const SessionId other = create("other");
  Forking& forking = *capabilities().forking;
  EXPECT_TRUE(fails(forking.fork(parent, {3}, session("c")), Code::invalid_argument));
  EXPECT_TRUE(fails(forking.fork(parent, {-1}, session("c")), Code::invalid_argument));
  EXPECT_TRUE(fails(forking.fork(parent, kSeqEnd, session("c")), Code::invalid_argument));
  EXPECT_TRUE(fails(forking.fork(session_id("nobody"), {0}, session("c")), Code::not_found));
  EXPECT_TRUE(fails(forking.fork(parent, {1}, session("other")), Code::conflict));
  EXPECT_TRUE(fails(forking.fork(parent, {1}, session("parent")), Code::conflict));
  EXPECT_EQ(must(store().find(session_id("c"))), std::nullopt);
  EXPECT_EQ(found(other), session("other"));
}

TEST_P(StoreContract, ParentAndForkAreIndependent) {
  REPRISE_NEEDS(capabilities().forking);
  const SessionId parent = create("parent", messages(3, "shared"));
  must(capabilities().forking->fork(parent, {2}, session("child")));
  const SessionId child = session_id("child");
  EXPECT_EQ(append(child, messages(2, "child")).first, Seq{2});
  EXPECT_EQ(append(parent, messages(1, "parent")).first, Seq{3});
  EXPECT_EQ(append(child, messages(1, "later")).first, Seq{4});
  reopen();
  const Texts of_child = {"shared 0", "shared 1", "child 0", "child 1", "later 0"};
  EXPECT_EQ(texts(stored(parent)), (Texts{"shared 0", "shared 1", "shared 2", "parent 0"}));
  EXPECT_EQ(texts(stored(child)), of_child);
  // Ranges across the fork point, in both directions.
  EXPECT_EQ(texts(stored(child, {.from = {1}, .to = {3}})), (Texts{"shared 1", "child 0"}));
  EXPECT_EQ(texts(stored(child, {.newest_first = true})),
            Texts(of_child.rbegin(), of_child.rend()));
  std::int64_t seq = 0;
  for (const Message& message : stored(child)) {
    EXPECT_EQ(message.seq.value, seq++);
  }
}

TEST_P(StoreContract, OnlyMessagesAreShared) {
  REPRISE_NEEDS(capabilities().forking);
  const SessionId parent = create("parent");
  Message answer = assistant("answer");
  answer.usage = usage("req", 10, 1);
  append(parent, {holdable(answer)},
         {.operation = operation_id("op"),
          .begin_partial = PartialStart{operation_id("a"), this_process(), "p", "m"}});
  if (capabilities().todos != nullptr) {
    must(capabilities().todos->edit_todos(parent, [](std::vector<Todo>& todos) -> Result<> {
      todos.push_back({"do it", TodoStatus::pending, "", {}});
      return {};
    }));
  }
  must(capabilities().forking->fork(parent, {1}, session("child")));
  const SessionId child = session_id("child");
  EXPECT_EQ(found(child).usage, Usage{}) << "the requests were the parent's";
  EXPECT_EQ(found(child).info.answering, std::nullopt);
  if (capabilities().todos != nullptr) {
    EXPECT_EQ(must(capabilities().todos->todos(child)), std::vector<Todo>{});
  }
  EXPECT_FALSE(append(child, messages(1), {.operation = operation_id("op")}).repeated);
}

TEST_P(StoreContract, AForkKeepsSharedMessagesWhenTheParentIsRewritten) {
  REPRISE_NEEDS(capabilities().forking && capabilities().rewriting);
  const SessionId parent = create("parent", messages(4, "old"));
  must(capabilities().forking->fork(parent, {3}, session("child")));
  const SessionId child = session_id("child");
  must(capabilities().rewriting->replace_suffix(parent, {1}, messages(4, "new"), {}));
  append(child, messages(1, "child"));
  must(capabilities().rewriting->replace_suffix(parent, {0}, messages(1, "newest"), {}));
  reopen();
  EXPECT_EQ(texts(stored(child)), (Texts{"old 0", "old 1", "old 2", "child 0"}));
  EXPECT_EQ(texts(stored(parent)), Texts{"newest 0"});
}

TEST_P(StoreContract, AForkMayBeRewrittenBeforeItsForkPoint) {
  REPRISE_NEEDS(capabilities().forking && capabilities().rewriting);
  const SessionId parent = create("parent", messages(4, "old"));
  must(capabilities().forking->fork(parent, {3}, session("child")));
  const SessionId child = session_id("child");
  append(child, messages(1, "child"));
  must(capabilities().rewriting->replace_suffix(child, {1}, messages(3, "new"), {}));
  reopen();
  EXPECT_EQ(texts(stored(child)), (Texts{"old 0", "new 0", "new 1", "new 2"}));
  EXPECT_EQ(texts(stored(parent)), texts(messages(4, "old")));
  EXPECT_EQ(append(child, messages(1, "more")).first, Seq{4});
  must(capabilities().rewriting->replace_suffix(child, {0}, messages(1, "first"), {}));
  EXPECT_EQ(texts(stored(child)), Texts{"first 0"});
  EXPECT_EQ(texts(stored(parent)), texts(messages(4, "old")));
}

TEST_P(StoreContract, ForksOfForks) {
  REPRISE_NEEDS(capabilities().forking && capabilities().rewriting);
  Forking& forking = *capabilities().forking;
  const SessionId a = create("a", messages(3, "a"));
  must(forking.fork(a, {2}, session("b")));
  const SessionId b = session_id("b");
  append(b, messages(2, "b"));
  must(forking.fork(b, {3}, session("c")));  // after the messages that b shares with a
  must(forking.fork(b, {1}, session("d")));  // before their end
  must(forking.fork(b, {2}, session("e")));  // exactly at their end
  const SessionId c = session_id("c");
  const SessionId d = session_id("d");
  append(c, messages(1, "c"));
  append(d, messages(1, "d"));
  must(forking.fork(c, {4}, session("f")));
  must(capabilities().rewriting->replace_suffix(b, {0}, messages(1, "new b"), {}));
  must(capabilities().rewriting->replace_suffix(a, {1}, messages(1, "new a"), {}));
  reopen();
  EXPECT_EQ(texts(stored(a)), (Texts{"a 0", "new a 0"}));
  EXPECT_EQ(texts(stored(b)), (Texts{"new b 0"}));
  EXPECT_EQ(texts(stored(c)), (Texts{"a 0", "a 1", "b 0", "c 0"}));
  EXPECT_EQ(texts(stored(d)), (Texts{"a 0", "d 0"}));
  EXPECT_EQ(texts(stored(session_id("e"))), (Texts{"a 0", "a 1"}));
  EXPECT_EQ(texts(stored(session_id("f"))), (Texts{"a 0", "a 1", "b 0", "c 0"}));
  EXPECT_EQ(found(d).info.forked_from, (ForkOrigin{b, {1}}));
}

// A session is forked, rewritten, and forked again at the same position: each fork keeps the
// messages of its time.
TEST_P(StoreContract, ForksOfDifferentTimesKeepDifferentMessages) {
  REPRISE_NEEDS(capabilities().forking && capabilities().rewriting);
  const SessionId parent = create("parent", messages(1, "start"));
  for (int round = 0; round < 5; ++round) {
    must(capabilities().rewriting->replace_suffix(parent, {1},
                                                  messages(2, "try " + std::to_string(round)), {}));
    must(capabilities().forking->fork(parent, {3}, session("child-" + std::to_string(round))));
  }
  reopen();
  for (int round = 0; round < 5; ++round) {
    const std::string prefix = "try " + std::to_string(round);
    EXPECT_EQ(texts(stored(session_id("child-" + std::to_string(round)))),
              (Texts{"start 0", prefix + " 0", prefix + " 1"}));
  }
}

}  // namespace
}  // namespace reprise::test
