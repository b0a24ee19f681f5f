// Running answers of processes that are stopped, in another container, or on another host.

#include "engine/lease.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <set>
#include <thread>

#include "base/text.h"
#include "contract/store_contract.h"
#include "engine/copy.h"
#include "reprise/capabilities.h"
#include "reprise/conversation.h"
#include "reprise/outbox.h"
#include "reprise/store.h"
#include "support/build.h"
#include "support/child.h"
#include "support/must.h"

namespace reprise::test {
namespace {

using namespace std::chrono_literals;

constexpr int kNoNamespaces = 77;

using Action = std::function<void()>;
const Action kNothing = [] {};

// Answers "one two", or calls the tool `t` first.
class TwoWords final : public Provider {
 public:
  explicit TwoWords(Action between, bool calls = false)
      : between_(std::move(between)), calls_(calls) {}
  std::string_view name() const override { return "two-words"; }
  Result<std::string> dry_run(Request& /*request*/) override { return ""; }
  Result<> stream(Request& /*request*/, const StreamSink& sink, std::stop_token stop) override {
    if (std::exchange(calls_, false)) {
      sink(ToolUseBegin{.id = "call-1", .name = "t"});
      sink(ToolInputDelta{"{}"});
      sink(ReplyEnded{StopReason::tool_use});
      return {};
    }
    sink(TextDelta{"one "});
    between_();
    if (stop.stop_requested()) {
      return fail(Code::cancelled, "stopped");
    }
    sink(TextDelta{"two"});
    sink(ReplyEnded{StopReason::end});
    return {};
  }

 private:
  Action between_;
  bool calls_;
};

std::string spelled(const std::vector<Message>& messages) {
  std::string out;
  for (const Message& message : messages) {
    const bool is_cut = message.state == MessageState::incomplete;
    out += (out.empty() ? "" : " | ") + plain_text(message) + (is_cut ? "~" : "");
  }
  return out;
}

void wait_until(const std::function<bool()>& is_so) {
  while (!is_so()) {
    std::this_thread::sleep_for(5ms);
  }
}

bool recover_answer(Store& store, const SessionId& id) {
  const auto running = store.capabilities().partials->find_partial(id);
  const std::optional<Partial> partial = running.value_or(std::nullopt);
  return partial && !partial->blocks.empty();
}

// For stores that write recordings of turns: a process stopped while writing them holds the
// session's lock. An update takes that lock after them.
bool has_saved(Store& store, const SessionId& id, std::string_view last) {
  if (store.capabilities().turn_recording == nullptr) {
    return true;
  }
  const auto text = store.capabilities().artefacts->find_artefact(id, {1}, last);
  return text && *text && !(*text)->empty() && store.update(id, {}).has_value();
}

// Long enough for a busy machine to stop the process before the next renewal.
constexpr std::chrono::milliseconds kStoppedLease{1'500};

// Stops this process while it holds no lock of the store: its lease has just been renewed.
void stop_between_renewals(Store& store, const SessionId& id) {
  const auto renewed = [&] {
    return must(store.capabilities().partials->find_partial(id)).value().owner.lease.uptime;
  };
  const auto before = renewed();
  wait_until([&] { return renewed() != before; });
  must(store.update(id, {}));  // waits for the lock, which is released after the renewal is visible
  ::raise(SIGSTOP);
}

Result<Outcome> ask(Store& store, const SessionId& id, std::string_view question,
                    Provider& provider, ConversationOptions options = {}) {
  REPRISE_ASSIGN(Session session, get(store, id));
  TurnObserver observer;
  Conversation conversation(provider, &store, std::move(session), std::move(options));
  return conversation.ask(question, observer);
}

// The exit code of a child that asks, and loses its lease meanwhile.
int exit_code_of_second(const Result<Outcome>& outcome) {
  return !outcome && outcome.error().code == Code::conflict ? 0 : 1;
}

Owner elsewhere(Lease lease) {
  Owner owner = this_process();
  owner.host = "elsewhere.example/boot";
  owner.lease = lease;
  return owner;
}

PartialStart start_of(Owner owner) {
  return {.answer = operation_id("other"),
          .owner = std::move(owner),
          .provider = "p",
          .model = "m",
          .started_at = at(1)};
}

#define REPRISE_NEEDS_LEASES                                                          \
  REPRISE_NEEDS(capabilities().partials&& capabilities().messages&& is_persistent()); \
  static_assert(true, "a semicolon")

TEST_P(StoreContract, AProcessStoppedPastItsLeaseStoresNothingMore) {
  REPRISE_NEEDS_LEASES;
  const SessionId id = create("s");
  close();  // the child opens its own
  const pid_t child = in_child([&] {
    const auto own = open();
    TwoWords provider([&] {
      wait_until([&] { return recover_answer(*own, id) && has_saved(*own, id, "stream.md"); });
      stop_between_renewals(*own, id);
    });
    return exit_code_of_second(ask(*own, id, "first", provider, {.answer_lease = kStoppedLease}));
  });
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, WUNTRACED), child);
  ASSERT_TRUE(WIFSTOPPED(status));
  reopen();
  TwoWords provider(kNothing);
  EXPECT_TRUE(works(ask(store(), id, "second", provider)));
  ASSERT_EQ(::kill(child, SIGCONT), 0);
  EXPECT_EQ(exit_code_of(child), 0);
  reopen();
  EXPECT_EQ(spelled(stored(id)), "first | one ~ | second | one two");
  EXPECT_EQ(found(id).info.answering, std::nullopt);
}

TEST_P(StoreContract, AConversationThatLostItsLeaseContinuesWithTheNextQuestion) {
  REPRISE_NEEDS_LEASES;
  const SessionId id = create("s");
  bool is_taken_over = false;
  TwoWords provider([&] {
    if (std::exchange(is_taken_over, true)) {
      return;
    }
    wait_until([&] { return recover_answer(store(), id); });
    must(settle(store(), id, must(capabilities().partials->find_partial(id)).value(),
                system_clock()));
    append(id, {user("between"), assistant("said elsewhere")});
  });
  TurnObserver observer;
  Conversation conversation(provider, &store(), found(id), {.answer_lease = 300ms});
  EXPECT_EQ(exit_code_of_second(conversation.ask("first", observer)), 0);
  const auto again = conversation.ask("second", observer);
  ASSERT_TRUE(works(again));
  EXPECT_TRUE(again->saved);
  EXPECT_EQ(spelled(stored(id)), "first | one ~ | between | said elsewhere | second | one two");
}

// Records its steps like an outbox file.
class RecordedSteps final : public Outbox {
 public:
  Result<> add(const Session& session, const OutboxStep& step) override {
    if (!open) {
      open = OutboxSession{.session = session, .fork = session_id("aside")};
    }
    open->steps.push_back(step);
    return {};
  }
  void clear() override { open.reset(); }
  void rotate() override { left = std::exchange(open, std::nullopt); }
  std::string where() const override { return "WHERE"; }

  std::optional<OutboxSession> open;
  std::optional<OutboxSession> left;  // until it is imported
};

// Shows "one two" while another process settles the stored part of the answer and continues the
// session.
class Overtaken {
 public:
  Overtaken(Store& store, SessionId id) : store_(store), id_(std::move(id)) {}

  TwoWords provider{[this] { overtake(); }};

 private:
  void overtake() {
    if (std::exchange(is_done_, true)) {
      return;
    }
    wait_until([&] { return recover_answer(store_, id_); });
    must(settle(store_, id_, must(store_.capabilities().partials->find_partial(id_)).value(),
                system_clock()));
    must(store_.append(id_, {user("between"), assistant("said elsewhere")}, {}));
  }

  Store& store_;
  const SessionId id_;
  bool is_done_ = false;
};

TEST_P(StoreContract, ShownTextOfALoserIsCounted) {
  REPRISE_NEEDS_LEASES;
  const SessionId id = create("s");
  Overtaken overtaken(store(), id);
  const auto lost = ask(store(), id, "first", overtaken.provider);
  ASSERT_FALSE(lost);
  EXPECT_NE(lost.error().message.find("; not saved: the last 3 characters shown; ask "),
            std::string::npos)
      << lost.error().message;
  EXPECT_EQ(spelled(stored(id)), "first | one ~ | between | said elsewhere");
}

TEST_P(StoreContract, ShownTextOfALoserIsInItsOutbox) {
  REPRISE_NEEDS_LEASES;
  const SessionId id = create("s");
  Overtaken overtaken(store(), id);
  RecordedSteps outbox;
  TurnObserver observer;
  Conversation conversation(overtaken.provider, &store(), found(id), {.outbox = &outbox});
  const auto lost = conversation.ask("first", observer);
  ASSERT_FALSE(lost);
  EXPECT_NE(lost.error().message.find("; its unsaved messages are in WHERE; ask again"),
            std::string::npos)
      << lost.error().message;
  ASSERT_TRUE(works(conversation.ask("second", observer)));
  ASSERT_TRUE(outbox.left) << "what is stored later takes nothing of it away";
  EXPECT_EQ(outbox.open, std::nullopt);
  ASSERT_EQ(outbox.left->steps.size(), 1U);
  EXPECT_EQ(spelled(outbox.left->steps.front().messages), "one two");
  const std::string now = "first | one ~ | between | said elsewhere | second | one two";
  EXPECT_EQ(spelled(stored(id)), now);
  REPRISE_NEEDS(capabilities().forking);
  EXPECT_EQ(must(replay_outbox(*outbox.left, store())).outcome, CopyOutcome::forked);
  EXPECT_EQ(must(replay_outbox(*outbox.left, store())).messages, 0);
  EXPECT_EQ(spelled(stored(session_id("aside"))), "first | one two");
  EXPECT_EQ(spelled(stored(id)), now);
}

TEST_P(StoreContract, AProcessStoppedInAToolStoresNoResult) {
  REPRISE_NEEDS_LEASES;
  REPRISE_NEEDS(capabilities().blocks);
  const SessionId id = create("s");
  close();
  const pid_t child = in_child([&] {
    const auto own = open();
    ToolRegistry tools;
    const auto stop = [&](const ToolContext&, const RawJson&) -> Result<ToolOutput> {
      wait_until([&] { return has_saved(*own, id, "stream.jsonl"); });
      stop_between_renewals(*own, id);
      return ToolOutput{"late"};
    };
    if (!tools.add(
            {.spec = {.name = "t", .description = "", .parameters = raw("{}")}, .run = stop})) {
      return 2;
    }
    TwoWords provider(kNothing, true);
    return exit_code_of_second(
        ask(*own, id, "first", provider, {.tools = &tools, .answer_lease = kStoppedLease}));
  });
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, WUNTRACED), child);
  ASSERT_TRUE(WIFSTOPPED(status));
  reopen();
  TwoWords provider(kNothing);
  EXPECT_TRUE(works(ask(store(), id, "second", provider)));
  ASSERT_EQ(::kill(child, SIGCONT), 0);
  EXPECT_EQ(exit_code_of(child), 0);
  reopen();
  const std::vector<Message> all = stored(id);
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(plain_text(all[2]), "second");
  EXPECT_EQ(plain_text(all[3]), "one two");
}

// It has the host name and the boot of everybody here; its pid means something else there.
TEST_P(StoreContract, AnAnswerInAnotherPidNamespaceIsNotConsideredDead) {
  REPRISE_NEEDS_LEASES;
  const SessionId id = create("s");
  close();
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = in_child([&] {
    ::close(ends[1]);
    if (::unshare(CLONE_NEWPID | CLONE_NEWNS) != 0) {
      return kNoNamespaces;
    }
    const pid_t inner = in_child([&] {
      if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
          ::mount("proc", "/proc", "proc", 0, nullptr) != 0) {
        return kNoNamespaces;
      }
      const auto own = open();
      TwoWords provider([&] {
        char goes_on = 0;
        (void)!::read(ends[0], &goes_on, 1);  // until the parent has made its attempt
      });
      return ask(*own, id, "first", provider) ? 0 : 1;
    });
    return exit_code_of(inner);
  });
  ::close(ends[0]);
  reopen();
  int status = 0;
  pid_t ended = 0;
  wait_until([&] {
    ended = ::waitpid(child, &status, WNOHANG);
    return ended != 0 || recover_answer(store(), id);
  });
  if (ended == child) {
    ::close(ends[1]);
    ASSERT_EQ(status, W_EXITCODE(kNoNamespaces, 0));
    GTEST_SKIP() << "no PID namespaces can be made here";
  }
  EXPECT_FALSE(is_interrupted(found(id).info));
  EXPECT_FALSE(must(recover_interrupted(store(), id)));
  TwoWords provider(kNothing);
  EXPECT_TRUE(fails(ask(store(), id, "second", provider, {.busy_timeout = 50ms}), Code::busy));
  ::close(ends[1]);
  EXPECT_EQ(exit_code_of(child), 0);
  reopen();
  EXPECT_TRUE(works(ask(store(), id, "third", provider)));
  EXPECT_EQ(spelled(stored(id)), "first | one two | third | one two");
}

// They wait for each other: everything is answered, and stored as it was said.
TEST_P(StoreContract, ThreadsAskInOneSession) {
  REPRISE_NEEDS_LEASES;
  constexpr int kAsking = 6;
  constexpr int kTurns = 5;
  const SessionId id = create("s");
  const auto other = another();  // half of them are like another process
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kAsking; ++thread) {
      Store& used = thread % 2 == 1 && other ? *other : store();
      threads.emplace_back([&used, &id, thread] {
        TwoWords provider(kNothing);
        for (int turn = 0; turn < kTurns; ++turn) {
          const auto session = get(used, id);
          if (!session) {
            ADD_FAILURE() << session.error().message;
            continue;
          }
          Conversation conversation(provider, &used, *session, {.busy_timeout = 60s});
          TurnObserver observer;
          const auto outcome = conversation.ask(cat(thread, ":", turn), observer);
          EXPECT_TRUE(works(outcome));
          EXPECT_TRUE(outcome && outcome->saved);
        }
      });
    }
  }
  reopen();
  const std::vector<Message> all = stored(id);
  ASSERT_EQ(all.size(), std::size_t{2 * kAsking * kTurns});
  std::set<std::string> questions;
  for (std::size_t i = 0; i < all.size(); i += 2) {
    questions.insert(plain_text(all[i]));
    EXPECT_EQ(plain_text(all[i + 1]), "one two");
  }
  EXPECT_EQ(questions.size(), std::size_t{kAsking * kTurns});
}

TEST_P(StoreContract, AnAnswerOfAHostThatIsGoneIsAbandoned) {
  REPRISE_NEEDS_LEASES;
  // Renewed long ago, and in the future, because that host's clock was fast.
  for (const std::chrono::hours renewed : {-1h, 1h}) {
    const SessionId id = create(renewed < 0h ? "past" : "future");
    Lease lease = new_lease(1s);
    lease.renewed_at += renewed;
    append(id, {user("first")}, {.begin_partial = start_of(elsewhere(lease))});
    const std::vector<Block> delta = {TextBlock{"half", {}}};
    ASSERT_TRUE(works(capabilities().partials->add_partial(id, operation_id("other"), delta)));
    EXPECT_TRUE(is_interrupted(found(id).info));
    EXPECT_TRUE(is_interrupted(listed({.answering_only = true}).front()));
    TwoWords provider(kNothing);
    EXPECT_TRUE(works(ask(store(), id, "second", provider, {.busy_timeout = 1ms})));
    EXPECT_EQ(spelled(stored(id)), "first | half~ | second | one two");
    if (!capabilities().many_sessions) {
      return;
    }
  }
}

// Each renewal shows that the clocks of the hosts differ, and that its process is alive.
TEST_P(StoreContract, AnAnswerWithAWrongClockRunsWhileItIsRenewed) {
  REPRISE_NEEDS_LEASES;
  const SessionId id = create("s");
  const auto wrong = [] {
    Lease lease = new_lease(8s);
    lease.renewed_at -= 1h;
    return lease;
  };
  append(id, {user("first")}, {.begin_partial = start_of(elsewhere(wrong()))});
  const auto other = open();  // like another process
  std::jthread owner([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      EXPECT_TRUE(
          works(other->capabilities().partials->renew_lease(id, operation_id("other"), wrong())));
      std::this_thread::sleep_for(50ms);
    }
  });
  TwoWords provider(kNothing);
  EXPECT_FALSE(must(recover_interrupted(store(), id)));
  // It is observed for longer than two seconds, a quarter of the lease.
  EXPECT_TRUE(fails(ask(store(), id, "too early", provider, {.busy_timeout = 2500ms}), Code::busy));
  owner.request_stop();
  owner.join();
  EXPECT_TRUE(works(ask(store(), id, "second", provider)));
  EXPECT_EQ(spelled(stored(id)), "first | second | one two");
}

TEST_P(StoreContract, ALongToolKeepsItsLease) {
  REPRISE_NEEDS_LEASES;
  REPRISE_NEEDS(capabilities().blocks);
  const SessionId id = create("s");
  constexpr auto kLength = 1000ms;
  const auto other = open();
  bool lived = true;
  ToolRegistry tools;
  // Waits until renewals exceed the duration of the lease.
  const auto run = [&](const ToolContext&, const RawJson&) -> Result<ToolOutput> {
    const auto lease = [&] {
      return must(other->capabilities().partials->find_partial(id))->owner.lease;
    };
    const Lease first = lease();
    wait_until([&] { return lease().uptime - first.uptime > kLength; });
    lived = !is_interrupted(must(get(*other, id)).info);
    return ToolOutput{"done"};
  };
  ASSERT_TRUE(works(
      tools.add({.spec = {.name = "t", .description = "", .parameters = raw("{}")}, .run = run})));
  TwoWords provider(kNothing, true);
  EXPECT_TRUE(
      works(ask(store(), id, "first", provider, {.tools = &tools, .answer_lease = kLength})));
  EXPECT_TRUE(lived);
  EXPECT_EQ(stored(id).size(), 4U);
}

}  // namespace
}  // namespace reprise::test
