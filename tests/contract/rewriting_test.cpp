// Rewriting: a suffix is replaced by other messages.

#include <gtest/gtest.h>

#include <set>

#include "base/text.h"
#include "contract/store_contract.h"
#include "reprise/capabilities.h"
#include "reprise/sessions.h"
#include "reprise/store.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

using Texts = std::vector<std::string>;

TEST_P(StoreContract, ASuffixIsReplaced) {
  REPRISE_NEEDS(capabilities().rewriting);
  const SessionId id = create("s", messages(4, "old"));
  const AppendResult appended =
      must(capabilities().rewriting->replace_suffix(id, {2}, messages(3, "new", at(100)), {}));
  EXPECT_EQ(appended.first, Seq{2});
  EXPECT_EQ(appended.head, Seq{5});
  EXPECT_FALSE(appended.repeated);
  std::vector<Message> expected = messages(2, "old");
  for (Message& message : messages(3, "new", at(100))) {
    expected.push_back(std::move(message));
  }
  EXPECT_EQ(stored(id), numbered(expected));
  EXPECT_EQ(found(id).info.head, Seq{5});
  EXPECT_EQ(found(id).info.updated_at, at(102));
  reopen();
  EXPECT_EQ(stored(id), numbered(expected));
  EXPECT_EQ(append(id, messages(1, "more")).first, Seq{5});
}

TEST_P(StoreContract, ReplacedMessagesAreCounted) {
  REPRISE_NEEDS(capabilities().rewriting);
  const SessionId id = create("s", messages(4, "old"));
  EXPECT_EQ(must(capabilities().rewriting->count_replaced(id)), 0);
  must(capabilities().rewriting->replace_suffix(id, {2}, messages(3, "new", at(100)), {}));
  must(capabilities().rewriting->replace_suffix(id, {4}, {}, {}));
  must(capabilities().rewriting->replace_suffix(id, {0}, messages(1, "newest", at(200)), {}));
  reopen();
  if (capabilities().artefacts != nullptr &&
      must(capabilities().artefacts->find_artefact(id, {0}, "replaced.jsonl"))) {
    EXPECT_EQ(must(capabilities().rewriting->count_replaced(id)), 0) << "they are an artefact";
  } else {
    EXPECT_EQ(must(capabilities().rewriting->count_replaced(id)), 2 + 1 + 4);
    std::multiset<std::string> texts;
    must(capabilities().rewriting->read_replaced(id, [&texts](Message&& message) {
      texts.insert(cat(message.seq.value, " ", plain_text(message)));
      return Flow::proceed;
    }));
    EXPECT_EQ(texts.size(), 7U);
    for (const Message& message : numbered(messages(4, "old"))) {
      EXPECT_TRUE(texts.contains(cat(message.seq.value, " ", plain_text(message))));
    }
  }
  EXPECT_TRUE(
      fails(capabilities().rewriting->count_replaced(session_id("nobody")), Code::not_found));
  EXPECT_TRUE(fails(capabilities().rewriting->read_replaced(
                        session_id("nobody"), [](Message&&) { return Flow::proceed; }),
                    Code::not_found));
}

std::vector<std::string> spelled(const std::vector<ReplacedPart>& parts) {
  std::vector<std::string> out;
  for (const ReplacedPart& part : parts) {
    out.push_back(cat(part.from.value, "+", part.messages, " ", part.text));
  }
  return out;
}

TEST_P(StoreContract, WhatWasReplacedComesBack) {
  REPRISE_NEEDS(capabilities().rewriting && capabilities().many_sessions);
  const SessionId id = create("s", messages(6, "old"));
  const auto replace = [&](std::int64_t from, std::vector<Message> by) {
    must(capabilities().rewriting->replace_suffix(id, {from}, std::move(by), {}));
  };
  EXPECT_TRUE(must(list_replaced(store(), id)).parts.empty());
  EXPECT_TRUE(fails(restore_replaced(store(), id, 0), Code::not_found));
  replace(4, {});
  append(id, messages(2, "newer", at(100)));  // at 4
  replace(2, {});
  append(id, messages(1, "newest", at(200)));  // at 2
  replace(2, messages(1, "last", at(300)));
  reopen();
  const auto parts = must(list_replaced(store(), id)).parts;
  ASSERT_EQ(parts.front().text, "newest 0");
  EXPECT_EQ(parts.front().from, Seq{2});
  EXPECT_EQ(parts.front().messages, 1);
  EXPECT_EQ(parts.front().time, at(200));
  const auto restored = [&](std::size_t index) {
    const SessionId fork = must(restore_replaced(store(), id, index));
    EXPECT_EQ(found(fork).info.forked_from->session, id);
    const Texts all = texts(stored(fork));
    EXPECT_EQ(found(fork).info.head.value, std::ssize(all));
    must(capabilities().trash->purge(fork));
    return all;
  };
  EXPECT_EQ(restored(0), (Texts{"old 0", "old 1", "newest 0"}));
  std::set<Texts> all;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    all.insert(restored(i));
  }
  EXPECT_TRUE(all.contains(Texts{"old 0", "old 1", "old 2", "old 3", "old 4", "old 5"}));
  EXPECT_TRUE(all.contains(Texts{"old 0", "old 1", "old 2", "old 3", "newer 0", "newer 1"}));
  EXPECT_TRUE(fails(restore_replaced(store(), id, parts.size()), Code::not_found));
  EXPECT_EQ(texts(stored(id)), (Texts{"old 0", "old 1", "last 0"})) << "unchanged";
  EXPECT_EQ(spelled(must(list_replaced(store(), id)).parts), spelled(parts));
  must(capabilities().trash->purge(id));
  EXPECT_TRUE(fails(list_replaced(store(), id), Code::not_found));
}

TEST_P(StoreContract, WhatAForkCutOffComesBack) {
  REPRISE_NEEDS(capabilities().rewriting && capabilities().many_sessions);
  const SessionId parent = create("parent", messages(4, "old"));
  const SessionId child = must(fork_session(store(), {.parent = parent}));
  append(child, messages(2, "own", at(100)));
  must(capabilities().rewriting->replace_suffix(child, {1}, messages(4, "new", at(200)), {}));
  const SessionId fork = must(restore_replaced(store(), child, 0));
  EXPECT_EQ(texts(stored(fork)), (Texts{"old 0", "old 1", "old 2", "old 3", "own 0", "own 1"}));
}

TEST_P(StoreContract, ReplacedMessagesBelongToTheirFork) {
  REPRISE_NEEDS(capabilities().rewriting);
  REPRISE_NEEDS(capabilities().forking);
  const SessionId parent = create("parent", messages(4));
  must(capabilities().forking->fork(parent, {4}, session("child")));
  const SessionId child = session_id("child");
  append(child, messages(2, "own"));
  must(capabilities().rewriting->replace_suffix(child, {5}, {}, {}));
  EXPECT_EQ(must(capabilities().rewriting->count_replaced(parent)), 0);
  if (!must(capabilities().artefacts != nullptr
                ? capabilities().artefacts->find_artefact(child, {0}, "replaced.jsonl")
                : Result<std::optional<std::string>>())) {
    EXPECT_EQ(must(capabilities().rewriting->count_replaced(child)), 1);
  }
}

// Longer than any buffer.
TEST_P(StoreContract, LongMessagesRemainWholeBeforeAReplacement) {
  REPRISE_NEEDS(capabilities().rewriting && capabilities().messages);
  std::vector<Message> all;
  for (int i = 0; i < 5; ++i) {
    all.push_back(i % 2 == 0 ? user(cat(i, std::string(700'000, 'x')), at(i))
                             : assistant(cat(i, std::string(700'000, 'y')), at(i)));
  }
  const SessionId id = create("s", all);
  must(capabilities().rewriting->replace_suffix(id, {4}, messages(1, "new", at(100)), {}));
  all.back() = messages(1, "new", at(100)).front();
  reopen();
  EXPECT_EQ(stored(id), numbered(all));
  must(capabilities().rewriting->replace_suffix(id, {0}, messages(1, "new", at(200)), {}));
  if (must(capabilities().rewriting->count_replaced(id)) > 0) {
    std::size_t bytes = 0;
    must(capabilities().rewriting->read_replaced(id, [&bytes](Message&& message) {
      bytes += plain_text(message).size();
      return Flow::proceed;
    }));
    EXPECT_GT(bytes, std::size_t{5 * 700'000});
  }
}

TEST_P(StoreContract, AllMessagesMayBeReplaced) {
  REPRISE_NEEDS(capabilities().rewriting);
  const SessionId id = create("s", messages(4, "old"));
  must(capabilities().rewriting->replace_suffix(id, {0}, messages(1, "new"), {}));
  EXPECT_EQ(texts(stored(id)), Texts{"new 0"});
  EXPECT_EQ(found(id).info.head, Seq{1});
  must(capabilities().rewriting->replace_suffix(id, {0}, {}, {}));
  EXPECT_EQ(texts(stored(id)), Texts{});
  EXPECT_EQ(found(id).info.head, Seq{0});
  reopen();
  EXPECT_EQ(append(id, messages(1, "again")).first, Seq{0});
  EXPECT_EQ(texts(stored(id)), Texts{"again 0"});
}

TEST_P(StoreContract, AnEmptyReplacementTruncates) {
  REPRISE_NEEDS(capabilities().rewriting);
  const SessionId id = create("s", messages(4, "old"));
  const Session before = found(id);
  must(capabilities().rewriting->replace_suffix(id, {3}, {}, {}));
  Session expected = before;
  expected.info.head = {3};
  EXPECT_EQ(found(id), expected) << "no activity that has a time";
  EXPECT_EQ(stored(id), numbered(messages(3, "old")));
}

TEST_P(StoreContract, ReplacingAtTheHeadAppends) {
  REPRISE_NEEDS(capabilities().rewriting);
  const SessionId id = create("s", messages(2));
  EXPECT_EQ(must(capabilities().rewriting->replace_suffix(id, {2}, messages(1, "new"), {})).first,
            Seq{2});
  EXPECT_EQ(texts(stored(id)), (Texts{"message 0", "message 1", "new 0"}));
}

TEST_P(StoreContract, ReplacingBeyondTheHeadIsRefused) {
  REPRISE_NEEDS(capabilities().rewriting);
  const SessionId id = create("s", messages(2));
  const Session before = found(id);
  for (const Seq from : {Seq{3}, kSeqEnd, Seq{-1}}) {
    EXPECT_TRUE(fails(capabilities().rewriting->replace_suffix(id, from, messages(1), {}),
                      Code::invalid_argument));
  }
  EXPECT_TRUE(fails(capabilities().rewriting->replace_suffix(session_id("nobody"), {0}, {}, {}),
                    Code::not_found));
  EXPECT_EQ(found(id), before);
}

TEST_P(StoreContract, ReplacingComparesTheHead) {
  REPRISE_NEEDS(capabilities().rewriting);
  const SessionId id = create("s", messages(4));
  const auto replace = [&](Seq expected) {
    return capabilities().rewriting->replace_suffix(id, {1}, messages(1, "new"),
                                                    {.expected_head = expected});
  };
  EXPECT_TRUE(fails(replace({1}), Code::conflict));
  EXPECT_EQ(stored(id), numbered(messages(4)));
  EXPECT_EQ(must(replace({4})).head, Seq{2});
}

TEST_P(StoreContract, AReplacementHappensOnce) {
  REPRISE_NEEDS(capabilities().rewriting);
  const SessionId id = create("s", messages(4));
  const AppendOptions options{.expected_head = Seq{4}, .operation = operation_id("retry")};
  const auto replace = [&](const char* prefix) {
    return must(capabilities().rewriting->replace_suffix(id, {1}, messages(2, prefix), options));
  };
  EXPECT_FALSE(replace("new").repeated);
  append(id, messages(1, "more"));
  reopen();
  const AppendResult again = replace("newer");
  EXPECT_TRUE(again.repeated);
  EXPECT_EQ(again.first, Seq{1});
  EXPECT_EQ(again.head, Seq{3});
  EXPECT_EQ(texts(stored(id)), (Texts{"message 0", "new 0", "new 1", "more 0"}));
  // An id is one operation, whichever function it is used with.
  EXPECT_TRUE(append(id, messages(1), {.operation = operation_id("retry")}).repeated);
}

// Some stores remember only the latest operations: these are not those with the highest positions.
TEST_P(StoreContract, AnOperationAfterADeepRewindHappensOnce) {
  REPRISE_NEEDS(capabilities().rewriting);
  const SessionId id = create("s", messages(1));
  const auto options = [](std::string_view name) {
    return AppendOptions{.operation = operation_id(std::string(name)),
                         .durability = Durability::os};
  };
  for (int turn = 0; turn < 110; ++turn) {
    append(id, messages(1), options(cat("turn-", turn)));
  }
  const auto rewind = [&] {
    return must(
        capabilities().rewriting->replace_suffix(id, {1}, messages(1, "new"), options("rewind")));
  };
  EXPECT_FALSE(rewind().repeated);
  append(id, messages(1, "newer"), options("append"));
  reopen();
  EXPECT_TRUE(rewind().repeated);
  EXPECT_TRUE(append(id, messages(1, "newer"), options("append")).repeated);
  EXPECT_TRUE(append(id, messages(1), options("turn-109")).repeated) << "of a replaced message";
  EXPECT_EQ(texts(stored(id)), (Texts{"message 0", "new 0", "newer 0"}));
}

TEST_P(StoreContract, TheUsageOfReplacedMessagesRemainsCounted) {
  REPRISE_NEEDS(capabilities().rewriting && capabilities().message_details);
  const SessionId id = create("s");
  Message answer = assistant("old");
  answer.usage = usage("req-1", 10, 1);
  append(id, {user("q"), answer});
  answer.usage = usage("req-2", 20, 2);
  must(capabilities().rewriting->replace_suffix(id, {1}, {answer}, {}));
  EXPECT_EQ(found(id).usage, usage("", 30, 3)) << "both requests were made";
  answer.usage = usage("req-1", 10, 1);
  append(id, {answer});
  EXPECT_EQ(found(id).usage, usage("", 30, 3)) << "and are known";
}

TEST_P(StoreContract, ManyConsecutiveReplacements) {
  REPRISE_NEEDS(capabilities().rewriting);
  const SessionId id = create("s", messages(3, "m"));
  Texts expected = {"m 0", "m 1", "m 2"};
  for (int round = 0; round < 50; ++round) {
    const auto from = static_cast<std::size_t>((round * 7) % 5) % (expected.size() + 1);
    const std::string prefix = "r" + std::to_string(round);
    must(capabilities().rewriting->replace_suffix(id, {static_cast<std::int64_t>(from)},
                                                  messages(2, prefix),
                                                  {.durability = Durability::os}));
    expected.resize(from);
    expected.push_back(prefix + " 0");
    expected.push_back(prefix + " 1");
    ASSERT_EQ(texts(stored(id)), expected) << round;
  }
  reopen();
  EXPECT_EQ(texts(stored(id)), expected);
}

}  // namespace
}  // namespace reprise::test
