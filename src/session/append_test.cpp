// Appends of another program's loop, in every kind of store that holds messages.

#include "session/append.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include "base/testing/temporary_folder.h"
#include "engine/testing/faulty_store.h"
#include "reprise/capabilities.h"
#include "reprise/conversation.h"
#include "reprise/open_store.h"
#include "reprise/sessions.h"
#include "session/fork.h"
#include "session/given_answer.h"

namespace reprise::append_test {
namespace {

using std::chrono::milliseconds;

template <class T>
T must(Result<T> result) {
  if (!result) {
    throw std::runtime_error(result.error().message);
  }
  return *std::move(result);
}
void must(const Result<>& result) {
  if (!result) {
    throw std::runtime_error(result.error().message);
  }
}

const Time kThen = *parse_time("2026-01-18T20:15:30Z");

Message message(std::string_view role, std::string text) {
  return {
      .role = std::string(role), .blocks = {TextBlock{std::move(text), {}}}, .created_at = kThen};
}
Message user(std::string text) {
  return message(role::kUser, std::move(text));
}
Message assistant(std::string text) {
  return message(role::kAssistant, std::move(text));
}
OperationId operation_id(std::string_view name) {
  return must(OperationId::parse(name));
}
PartialStart running_answer(std::string_view name) {
  return {operation_id(name), this_process(), "p", "m", kThen};
}

class AppendOfALoop : public testing::TestWithParam<const char*> {
 protected:
  AppendOfALoop() : store_(must(open_store(url()))) {}

  Store& store() { return *store_; }
  bool has_answers() { return store_->capabilities().partials != nullptr; }

  static Session new_session() {
    return {.info = {.id = *SessionId::parse("unused"), .working_dir = "/"}};
  }
  SessionId start() { return must(start_with(store(), new_session(), {user("Why?")}, {})).id; }
  static AppendContext with(std::string_view operation) {
    return {.operation = operation_id(operation), .busy_timeout = milliseconds(0)};
  }
  std::vector<std::string> texts(const SessionId& id) {
    std::vector<std::string> out;
    for (const Message& stored : must(read_all(store(), id))) {
      out.push_back(plain_text(stored));
    }
    return out;
  }

 private:
  std::string url() const {
    const std::string kind = GetParam();
    return kind == "memory" ? "memory:" : kind + ":" + (temporary_.path() / "store").native();
  }

  const test::TemporaryFolder temporary_;
  std::unique_ptr<Store> store_;
};

TEST_P(AppendOfALoop, StartsASessionOnce) {
  const std::vector<Message> messages = {user("Why is it so?"), assistant("It is.")};
  const auto first = must(start_with(store(), new_session(), messages, with("a")));
  const auto again = must(start_with(store(), new_session(), messages, with("a")));
  EXPECT_EQ(first.id, again.id);
  EXPECT_EQ(first.appended.head, again.appended.head);
  EXPECT_EQ(texts(first.id), (std::vector<std::string>{"Why is it so?", "It is."}));
  EXPECT_EQ(must(get(store(), first.id)).info.title, "Why is it so?");
  if (store().capabilities().many_sessions) {
    EXPECT_NE(must(start_with(store(), new_session(), messages, with("b"))).id, first.id);
  }
}

TEST_P(AppendOfALoop, HappensOnce) {
  const SessionId id = start();
  const auto first = must(append_given(store(), id, {assistant("So.")}, with("b")));
  must(append_given(store(), id, {user("And?")}, {}));
  const auto again = must(append_given(store(), id, {assistant("So.")}, with("b")));
  EXPECT_EQ(again.first, first.first);
  EXPECT_EQ(again.head, first.head);
  EXPECT_EQ(texts(id), (std::vector<std::string>{"Why?", "So.", "And?"}));
  for (const auto& others : {std::vector{assistant("Thus.")}, std::vector{user("So.")},
                             std::vector{assistant("So."), user("So.")}}) {
    const auto other = append_given(store(), id, others, with("b"));
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().code, Code::conflict);
  }
  EXPECT_EQ(texts(id).size(), 3U);
}

TEST_P(AppendOfALoop, HappensOnceAlsoIfItWasTakenBackSince) {
  const SessionId id = start();
  must(append_given(store(), id, {assistant("So."), user("And?")}, with("b")));
  if (store().capabilities().rewriting == nullptr) {
    GTEST_SKIP() << "no rewriting";
  }
  must(rewind_session(store(), id, 1));
  EXPECT_TRUE(append_given(store(), id, {assistant("So."), user("And?")}, with("b")));
  EXPECT_FALSE(append_given(store(), id, {assistant("So."), user("Or?")}, with("b")));
  EXPECT_EQ(texts(id), (std::vector<std::string>{"Why?", "So."}));
}

TEST_P(AppendOfALoop, ForksAndRewindsHappenOnce) {
  const SessionId id = start();
  must(append_given(store(), id, {assistant("So."), user("And?"), assistant("Then.")}, {}));
  if (store().capabilities().many_sessions) {
    const ForkRequest request{.parent = id, .at = Seq{1}};
    const SessionId fork =
        must(fork_session_once(store(), request, operation_id("f"), system_clock()));
    EXPECT_EQ(must(fork_session_once(store(), request, operation_id("f"), system_clock())), fork);
    EXPECT_EQ(texts(fork), std::vector<std::string>{"Why?"});
    EXPECT_FALSE(fork_session_once(store(), {.parent = fork}, operation_id("f"), system_clock()));
  }
  if (store().capabilities().rewriting != nullptr) {
    must(rewind_session_once(store(), id, 1, operation_id("r")));
    must(rewind_session_once(store(), id, 1, operation_id("r")));
    EXPECT_EQ(texts(id), (std::vector<std::string>{"Why?", "So."}));
    must(rewind_session_once(store(), id, 1, operation_id("s")));
    EXPECT_TRUE(texts(id).empty());
  }
}

TEST_P(AppendOfALoop, StartsNothingIfItFails) {
  for (int works = 0; works < 3; ++works) {
    FaultyStore dying(store());
    dying.fails = [works](int call) { return call >= works; };
    (void)start_with(dying, new_session(), {user("Why?")}, {});
  }
  for (const SessionInfo& info : must(store().list({})).sessions) {
    EXPECT_EQ(info.head.value, 1) << "a session without its messages";
  }
}

TEST_P(AppendOfALoop, WaitsForARunningAnswer) {
  if (!has_answers()) {
    GTEST_SKIP() << "no running answers";
  }
  const SessionId id = start();
  must(store().append(id, {}, {.begin_partial = running_answer("theirs")}));
  const auto refused = append_given(store(), id, {user("And?")}, {.busy_timeout = milliseconds(0)});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::busy);
  std::jthread waiting([&] { must(append_given(store(), id, {user("And?")}, {})); });
  must(store().append(id, {assistant("So.")}, {.end_partial = operation_id("theirs")}));
  waiting.join();
  EXPECT_EQ(texts(id), (std::vector<std::string>{"Why?", "So.", "And?"}));
}

TEST_P(AppendOfALoop, ReopensAClosedSession) {
  const SessionId id = start();
  must(store().update(id, {.state = SessionState::closed, .closed_at = std::optional(kThen)}));
  must(append_given(store(), id, {assistant("So.")}, {}));
  EXPECT_EQ(must(get(store(), id)).info.state, SessionState::active);
}

TEST_P(AppendOfALoop, KeepsLargePartsOnce) {
  Blobs* const blobs = store().capabilities().blobs;
  if (blobs == nullptr) {
    GTEST_SKIP() << "no blobs";
  }
  const SessionId id = start();
  Message given = message("tool", "");
  given.blocks = {ToolResultBlock{"c", std::string(100'000, 'x'), true, {}, {}}};
  must(append_given(store(), id, {given}, with("b")));
  must(append_given(store(), id, {given}, with("b")));
  const auto stored = std::get<ToolResultBlock>(must(read_all(store(), id))[1].blocks[0]);
  EXPECT_TRUE(stored.blob);
  EXPECT_TRUE(stored.is_error);
  EXPECT_LT(stored.text.size(), 10'000U);
  given.blocks = {ToolResultBlock{"c", "", false, *BlobHash::parse(std::string(64, 'a')), {}}};
  const auto refused = append_given(store(), id, {given}, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::invalid_argument);
}

TEST_P(AppendOfALoop, AnAnswerOutlivesItsProcesses) {
  if (!has_answers()) {
    GTEST_SKIP() << "no running answers";
  }
  const SessionId id = start();
  const OperationId answer = must(begin_answer(store(), id, {.model = "m"}, with("b")));
  EXPECT_EQ(must(begin_answer(store(), id, {.model = "m"}, with("b"))), answer);
  const auto add = [&](Block block) {
    must(add_to_answer(store(), id, must(find_answer(store(), id, answer)), {&block, 1}));
  };
  add(ThinkingBlock{"Hm", "", {}});
  add(TextBlock{"It", {}});
  add(TextBlock{" is.", {}});
  const SessionSnapshot running = must(get_snapshot(store(), id));
  ASSERT_TRUE(running.answer);
  EXPECT_EQ(running.answer->owner, OwnerState::alive);
  EXPECT_EQ(plain_text(running.answer->message), "It is.");
  const auto ended = must(end_answer(store(), id, answer, MessageState::complete));
  EXPECT_EQ(must(end_answer(store(), id, answer, MessageState::complete)).head, ended.head);
  EXPECT_FALSE(find_answer(store(), id, answer));
  const Message last = must(read_all(store(), id)).back();
  EXPECT_EQ(last.model, "m");
  EXPECT_EQ(last.state, MessageState::complete);
  EXPECT_EQ(last.blocks.size(), 2U);
}

TEST_P(AppendOfALoop, AnAnswerThatIsLeftBecomesIncomplete) {
  if (!has_answers()) {
    GTEST_SKIP() << "no running answers";
  }
  const SessionId id = start();
  const OperationId answer =
      must(begin_answer(store(), id, {.lease = milliseconds(1)}, AppendContext{}));
  const Block block = TextBlock{"It", {}};
  must(add_to_answer(store(), id, must(find_answer(store(), id, answer)), {&block, 1}));
  must(append_given(store(), id, {user("Well?")}, {}));
  const std::vector<Message> stored = must(read_all(store(), id));
  ASSERT_EQ(stored.size(), 3U);
  EXPECT_EQ(stored[1].state, MessageState::incomplete);
  EXPECT_EQ(plain_text(stored[1]), "It");
  const auto late = end_answer(store(), id, answer, MessageState::complete);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Code::conflict);
}

// That of a process which is alive.
TEST_P(AppendOfALoop, AnotherProgramsAnswerIsNotAddedTo) {
  if (!has_answers()) {
    GTEST_SKIP() << "no running answers";
  }
  const SessionId id = start();
  must(store().append(id, {}, {.begin_partial = running_answer("theirs")}));
  EXPECT_FALSE(find_answer(store(), id, std::nullopt));
  EXPECT_FALSE(find_answer(store(), id, operation_id("theirs")));
}

INSTANTIATE_TEST_SUITE_P(Stores, AppendOfALoop,
                         testing::Values("sqlite", "sessions", "chatdir", "context", "memory"),
                         [](const auto& one) { return std::string(one.param); });

TEST(AppendWithoutMessages, IsRefused) {
  const test::TemporaryFolder folder;
  const auto store = must(open_store("chain:" + (folder.path() / "c.json").native()));
  const auto refused =
      start_with(*store, {.info = {.id = *SessionId::parse("unused")}}, {user("Why?")}, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::unsupported);
  EXPECT_TRUE(must(store->list({})).sessions.empty());
}

}  // namespace
}  // namespace reprise::append_test
