// The library functions behind the program's commands on stored sessions.

#include "reprise/sessions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <span>

#include "base/testing/temporary_folder.h"
#include "engine/testing/faulty_store.h"
#include "reprise/conversation.h"
#include "reprise/open_store.h"
#include "reprise/provider.h"

namespace reprise {
namespace {

const SessionId kId = *SessionId::parse("01990000-0000-7000-8000-000000000001");

Message message_of(std::string_view role, std::string text, int second) {
  return {.role = std::string(role),
          .blocks = {TextBlock{std::move(text), {}}},
          .created_at = Time{std::chrono::seconds(1'760'000'000 + second)}};
}

class SessionsTest : public testing::TestWithParam<const char*> {
 protected:
  SessionsTest() {
    store_ = *open_store(std::string(GetParam()) + ":" + (folder_ / "store").native());
  }

  // Two turns of two messages each.
  void begin() {
    Session session{.info = {.id = kId, .title = "Leagues", .working_dir = "/"}};
    session.info.created_at = session.info.updated_at = Time{std::chrono::seconds(1'760'000'000)};
    ASSERT_TRUE(store_->create(session));
    ASSERT_TRUE(store_->append(kId,
                               {message_of(role::kUser, "How long is a league?", 1),
                                message_of(role::kAssistant, "An hour's walk.", 2),
                                message_of(role::kUser, "And a mile?", 3),
                                message_of(role::kAssistant, "A third of it.", 4)},
                               {}));
  }

  Store& store() { return *store_; }
  std::vector<SessionInfo> listed() { return store_->list({})->sessions; }

 private:
  const test::TemporaryFolder temporary_;
  std::filesystem::path folder_ = temporary_.path();
  std::unique_ptr<Store> store_;
};

TEST_P(SessionsTest, AForkAppearsWholeOrNotAtAll) {
  begin();
  for (int works = 0; works < 6; ++works) {
    FaultyStore dying(store());
    dying.fails = [works](int call) { return call >= works; };
    const auto child = fork_session(dying, {.parent = kId});
    for (const SessionInfo& info : listed()) {
      EXPECT_EQ(info.head, Seq{4}) << works << ": " << info.title;
    }
    EXPECT_EQ(listed().size(), child ? 2U : 1U) << works;
    if (child) {
      EXPECT_EQ(read_all(store(), *child)->size(), 4U);
      EXPECT_EQ(get(store(), *child)->info.title, "Leagues (fork)");
      ASSERT_TRUE(store().capabilities().trash->purge(*child));
    }
  }
}

struct Change {
  const char* name;
  std::function<Result<>(Conversation&, Store&)> make;
};

const std::vector<Change>& changes() {
  static const std::vector<Change> all = {
      {"retry",
       [](Conversation& conversation, Store& /*store*/) -> Result<> {
         TurnObserver observer;
         REPRISE_TRY(conversation.retry(observer));
         return {};
       }},
      {"go on",
       [](Conversation& conversation, Store& /*store*/) -> Result<> {
         TurnObserver observer;
         REPRISE_TRY(conversation.continue_turn(observer));
         return {};
       }},
      {"rewind",
       [](Conversation& conversation, Store& store) -> Result<> {
         REPRISE_TRY(conversation.store_unsaved());
         REPRISE_TRY(rewind_session(store, kId, 1));
         return {};
       }},
      {"fork",
       [](Conversation& conversation, Store& store) -> Result<> {
         REPRISE_TRY(conversation.store_unsaved());
         REPRISE_ASSIGN(const SessionId child, fork_session(store, {.parent = kId}));
         REPRISE_ASSIGN(const std::vector<Message> messages, read_all(store, child));
         EXPECT_EQ(messages.size(), 6U);
         return {};
       }},
  };
  return all;
}

// One call to the store fails, during a turn or during the change after it: what was stored, and
// what the turn has said, is in the session, or in what the change replaced.
TEST_P(SessionsTest, AFailingCallBeforeOrInAChangeLosesNothing) {
  for (const Change& change : changes()) {
    for (int failing = 0;; ++failing) {
      begin();
      FaultyStore failing_store(store());
      failing_store.fails = [failing](int call) { return call == failing; };
      const auto provider = make_echo_provider();
      {
        Conversation conversation(*provider, &failing_store, get(store(), kId).value(), {});
        TurnObserver observer;
        EXPECT_TRUE(conversation.ask("Again?", observer));
        (void)change.make(conversation, failing_store);  // may be refused, and then changes nothing
      }
      std::vector<std::string> texts;
      const auto add_text = [&texts](const Message& message) {
        texts.push_back(plain_text(message));
        return Flow::proceed;
      };
      ASSERT_TRUE(store().read(kId, {}, add_text));
      const std::vector<std::string> before = {"How long is a league?", "An hour's walk.",
                                               "And a mile?", "A third of it."};
      ASSERT_GE(texts.size(), before.size()) << change.name << ", call " << failing;
      EXPECT_TRUE(std::ranges::equal(before, std::span(texts).first(4)))
          << change.name << ", call " << failing;
      ASSERT_TRUE(store().capabilities().replaced_reader->read_replaced(kId, add_text));
      EXPECT_GE(std::ranges::count(texts, "Again?"), 2) << change.name << ", call " << failing;
      for (const SessionInfo& info : listed()) {  // forks before their origin
        ASSERT_TRUE(info.id == kId || store().capabilities().trash->purge(info.id));
      }
      ASSERT_TRUE(store().capabilities().trash->purge(kId));
      if (failing_store.calls <= failing) {
        EXPECT_GT(failing, 6);
        break;
      }
    }
  }
}

RemovedSessions must_remove(Store& store, std::span<const SessionInfo> sessions, Removal removal) {
  auto removed = remove_sessions(store, sessions, removal);
  EXPECT_TRUE(removed) << removed.error().message;
  return std::move(removed).value_or(RemovedSessions{});
}

// A list is older than what it leads to.
TEST_P(SessionsTest, ASessionThatIsAnsweredSinceItWasListedIsNotRemoved) {
  begin();
  const std::vector<SessionInfo> old = listed();
  const OperationId answer = *OperationId::parse("answer");
  ASSERT_TRUE(store().append(
      kId, {},
      {.begin_partial = PartialStart{
           .answer = answer, .owner = this_process(), .provider = "echo", .model = "echo"}}));
  for (const Removal removal : {Removal::trash, Removal::purge}) {
    FaultyStore failing(store());
    failing.fails = [](int call) { return call == 0; };  // nothing is known of it
    EXPECT_EQ(must_remove(failing, old, removal).failed.size(), 1U);
    const RemovedSessions removed = must_remove(store(), old, removal);
    EXPECT_TRUE(removed.removed.empty());
    EXPECT_EQ(removed.answering.size(), 1U);
  }
  const std::vector<SessionInfo> answering = listed();
  ASSERT_TRUE(store().append(kId, {}, {.end_partial = answer}));
  EXPECT_EQ(remove_sessions(store(), answering, Removal::trash)->removed.size(), 1U);
}

TEST_P(SessionsTest, ForksTheMessagesBeforeAPosition) {
  begin();
  const auto child = fork_session(store(), {.parent = kId, .at = Seq{2}, .title = "Aside"});
  ASSERT_TRUE(child) << child.error().message;
  const Session session = *get(store(), *child);
  EXPECT_EQ(session.info.title, "Aside");
  EXPECT_EQ(session.info.head, Seq{2});
  EXPECT_EQ(session.info.forked_from, (ForkOrigin{kId, Seq{2}}));
  EXPECT_EQ(fork_session(store(), {.parent = kId, .at = Seq{9}}).error().code,
            Code::invalid_argument);
  EXPECT_EQ(listed().size(), 2U);
}

TEST_P(SessionsTest, RewindsWholeTurns) {
  begin();
  EXPECT_EQ(rewind_session(store(), kId, 3).error().code, Code::invalid_argument);
  EXPECT_EQ(rewind_session(store(), kId, 0).error().code, Code::invalid_argument);
  const auto rewound = rewind_session(store(), kId, 1);
  ASSERT_TRUE(rewound) << rewound.error().message;
  EXPECT_EQ(rewound->head, Seq{2});
  EXPECT_EQ(rewound->messages, 2);
  EXPECT_EQ(last_exchange(store(), kId)->question, "How long is a league?");
  EXPECT_EQ(first_exchange(store(), kId)->answer, "An hour's walk.");
  EXPECT_EQ(last_prompts(store(), *get(store(), kId), 5),
            std::vector<std::string>{"How long is a league?"});
}

// Another process adds a message while the turns are counted.
TEST_P(SessionsTest, ARewindTakesNothingThatItHasNotSeen) {
  begin();
  FaultyStore watched(store());
  watched.fails = [this](int call) {  // 0: the session, 1: its messages
    EXPECT_TRUE(call != 2 || store().append(kId, {message_of(role::kUser, "And a foot?", 5)}, {}));
    return false;
  };
  const auto rewound = rewind_session(watched, kId, 1);
  ASSERT_FALSE(rewound);
  EXPECT_EQ(rewound.error().code, Code::conflict);
  EXPECT_EQ(read_all(store(), kId)->size(), 5U);
}

TEST_P(SessionsTest, ListsTurnsAndCountsEachRequestOnce) {
  begin();
  Message answer = message_of(role::kAssistant, "Really.", 6);
  answer.model = "m";
  answer.usage = Usage{.output = {7}, .request_id = "r"};
  const Message again = answer;
  ASSERT_TRUE(store().append(kId, {message_of(role::kUser, "Really?", 5), answer, again}, {}));
  std::vector<TurnSummary> turns;
  const auto damage =
      read_turns(store(), kId, [&turns](const TurnSummary& turn) { turns.push_back(turn); });
  ASSERT_TRUE(damage) << damage.error().message;
  ASSERT_EQ(turns.size(), 3U);
  EXPECT_EQ(turns[1].first, Seq{2});
  EXPECT_EQ(turns[1].messages, 2);
  EXPECT_EQ(turns[2].messages, 3);
  EXPECT_EQ(turns[2].model, "m");
  EXPECT_EQ(turns[2].usage.output, TokenCount{7});
}

// It is counted in the session that it was taken from.
TEST_P(SessionsTest, ARestoredPartHasNoUsage) {
  begin();
  if (store().capabilities().rewriting == nullptr) {
    GTEST_SKIP();
  }
  Message answer = message_of(role::kAssistant, "Really.", 6);
  answer.usage = Usage{.output = {7}, .request_id = "r"};
  ASSERT_TRUE(store().append(kId, {message_of(role::kUser, "Really?", 5), answer}, {}));
  ASSERT_TRUE(rewind_session(store(), kId, 1));
  const auto restored = restore_replaced(store(), kId, 0);
  ASSERT_TRUE(restored) << restored.error().message;
  const auto messages = read_all(store(), *restored);
  ASSERT_TRUE(messages) << messages.error().message;
  ASSERT_EQ(messages->size(), 6U);
  EXPECT_FALSE(messages->back().usage);
  EXPECT_EQ(get(store(), *restored)->usage, Usage{});
}

// Not even if it is made the current one again.
TEST_P(SessionsTest, TheCurrentSessionIsNotArchived) {
  begin();
  if (store().capabilities().current_session == nullptr) {
    GTEST_SKIP();
  }
  const SessionId other = *fork_session(store(), {.parent = kId});
  for (const SessionId& id : {kId, other, other}) {
    const auto replaced = make_current(store(), id, true);
    ASSERT_TRUE(replaced) << replaced.error().message;
    EXPECT_EQ(get(store(), id)->info.state, SessionState::active);
  }
  EXPECT_EQ(get(store(), kId)->info.state, SessionState::archived);
}

TEST_P(SessionsTest, ResumingAClosedSessionMakesItActive) {
  begin();
  ASSERT_TRUE(store().update(kId, {.state = SessionState::closed, .closed_at = Time{}}));
  EXPECT_EQ(resume_session(store(), kId, {.change = false})->session.info.state,
            SessionState::closed);
  const auto resumed = resume_session(store(), kId);
  ASSERT_TRUE(resumed) << resumed.error().message;
  EXPECT_EQ(resumed->session.info.state, SessionState::active);
  EXPECT_FALSE(resumed->session.info.closed_at);
  EXPECT_FALSE(resumed->recovered);
}

TEST_P(SessionsTest, ReportsFailedRemovalsAndContinues) {
  begin();
  const SessionId other = *fork_session(store(), {.parent = kId, .at = Seq{0}});
  SessionInfo gone = listed().front();
  gone.id = *SessionId::parse("01990000-0000-7000-8000-00000000000f");
  std::vector<SessionInfo> all = listed();
  all.insert(all.begin(), gone);
  const auto done = remove_sessions(store(), all, Removal::trash);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->removed.size(), 2U);
  ASSERT_EQ(done->failed.size(), 1U);
  EXPECT_EQ(done->failed.front().first, gone.id);
  EXPECT_EQ(done->failed.front().second.code, Code::not_found);
  EXPECT_TRUE(listed().empty());
}

TEST_P(SessionsTest, ATextThatAToolAddedAfterTheAnswerIsNotAnUnansweredQuestion) {
  begin();
  Message added = message_of(role::kUser, "<command>/exit</command>", 5);
  added.extra = {{std::string(kInjectedField), *RawJson::parse("true")}};
  ASSERT_TRUE(store().append(kId, {added, added}, {}));
  const auto is_incomplete = [this] {
    SessionPage page = *store().list({});
    mark_incomplete_answers(store(), page);
    const bool is_listed = page.sessions.front().incomplete;
    EXPECT_EQ(get_snapshot(store(), kId)->session.info.incomplete, is_listed);
    return is_listed;
  };
  EXPECT_FALSE(is_incomplete());
  ASSERT_TRUE(store().append(kId, {message_of(role::kUser, "And a fathom?", 6), added}, {}));
  EXPECT_TRUE(is_incomplete());
}

// The storage beside it may belong to another session by the time it is restored.
TEST_P(SessionsTest, StoresTheInterruptedAnswerOfATrashedSession) {
  begin();
  const OperationId answer = *OperationId::parse("answer");
  Owner dead = this_process();
  dead.started += 1;
  ASSERT_TRUE(store().append(kId, {message_of(role::kUser, "And a fathom?", 5)},
                             {.begin_partial = PartialStart{answer, dead, "p", "m", Time{}}}));
  const std::vector<Block> half = {TextBlock{"Six", {}}};
  ASSERT_TRUE(store().capabilities().partials->add_partial(kId, answer, half));
  const auto done = remove_sessions(store(), listed(), Removal::trash);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->removed.size(), 1U);
  const auto messages = read_all(store(), kId);
  ASSERT_TRUE(messages) << messages.error().message;
  ASSERT_EQ(messages->size(), 6U);
  EXPECT_EQ(plain_text(messages->back()), "Six");
  EXPECT_EQ(messages->back().state, MessageState::incomplete);
}

// A store that cannot be read does not tell that nobody answers.
TEST_P(SessionsTest, AStoreErrorDoesNotEndARunningAnswer) {
  begin();
  Owner silent = this_process(std::chrono::milliseconds(4));
  silent.host = "elsewhere";
  silent.lease.renewed_at -= std::chrono::hours(1);
  const OperationId answer = *OperationId::parse("answer");
  ASSERT_TRUE(store().append(kId, {message_of(role::kUser, "And a fathom?", 5)},
                             {.begin_partial = PartialStart{answer, silent, "p", "m", Time{}}}));
  FaultyStore faulty(store());
  faulty.fails = [](int /*call*/) { return true; };
  faulty.os_errno = EIO;
  const std::vector<SessionInfo> sessions = listed();
  const auto answers = recover_answer(faulty, sessions.front());
  ASSERT_FALSE(answers);
  EXPECT_EQ(answers.error().code, Code::io);
  const auto done = remove_sessions(faulty, sessions, Removal::purge);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->failed.size(), 1U);
  EXPECT_EQ(listed().size(), 1U);
}

TEST_P(SessionsTest, DiscardsEmptySessionsOnly) {
  begin();
  EXPECT_FALSE(discard_if_empty(store(), kId));
  const auto provider = *make_provider("echo", {});
  Session empty{.info = {.id = *SessionId::parse("01990000-0000-7000-8000-000000000002")}};
  ASSERT_TRUE(create_session(store(), *provider, empty));
  EXPECT_TRUE(discard_if_empty(store(), empty.info.id));
  EXPECT_EQ(listed().size(), 1U);
  EXPECT_TRUE(store().list({.states = {SessionState::trashed}})->sessions.empty());
}

TEST(FindAllSessions, RequestsTheLargestPage) {
  const auto store = open_memory_store();
  for (std::size_t i = 0; i <= kPageMax; ++i) {
    ASSERT_TRUE(store->create({.info = {.id = *SessionId::parse("s" + std::to_string(i))}}));
  }
  FaultyStore counting(*store);
  const auto found = find_all_sessions(counting);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->sessions.size(), kPageMax + 1);
  EXPECT_EQ(counting.calls, 1);
}

INSTANTIATE_TEST_SUITE_P(Stores, SessionsTest, testing::Values("sqlite", "sessions", "chatdir"),
                         [](const auto& param) { return std::string(param.param); });

}  // namespace
}  // namespace reprise
