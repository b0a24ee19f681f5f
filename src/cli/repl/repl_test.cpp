#include "cli/repl/repl.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <deque>

#include "base/file.h"
#include "cli/program/interrupts.h"
#include "cli/program/store_opener.h"
#include "cli/session/start_session.h"

namespace reprise::cli {
namespace {

// Returns its lines, then the end. "^C" and "^T" are signals while it waits.
class ScriptedSource final : public LineSource {
 public:
  explicit ScriptedSource(std::deque<std::string> lines) : lines_(std::move(lines)) {}

  Input read(std::string_view /*prompt*/, std::stop_token stop) override {
    if (lines_.empty()) {
      return {Input::Kind::end, ""};
    }
    std::string line = std::move(lines_.front());
    lines_.pop_front();
    if (line == "^C" || line == "^T") {
      EXPECT_EQ(std::raise(line == "^C" ? SIGINT : SIGTERM), 0);
      while (!stop.stop_requested()) {
        std::this_thread::yield();
      }
      return {Input::Kind::stopped, ""};
    }
    return {Input::Kind::text, std::move(line)};
  }

  void remember(std::string_view text) override { remembered.emplace_back(text); }

  std::vector<std::string> remembered;

 private:
  std::deque<std::string> lines_;
};

// A store in memory and REPL runs over it.
class ReplTest : public testing::Test {
 protected:
  struct Ran {
    Exit exit = Exit::success;
    std::optional<SessionId> id;
    std::vector<std::string> remembered;
  };

  Ran run(std::deque<std::string> lines, std::optional<std::string> sel = std::nullopt,
          bool person = true) {
    Interrupts interrupts(kInterruptsMax);
    ScriptedSource source(std::move(lines));
    RunFlags flags;
    flags.provider = "echo";
    SessionChoice choice;
    choice.sel = std::move(sel);
    auto conversation =
        start_session(context_, {.flags = flags, .session = std::move(choice), .title = ""});
    if (!conversation) {
      ADD_FAILURE() << conversation.error().message;
      return {};
    }
    Ran ran;
    ran.id = (*conversation)->conversation->session().info.id;
    const auto open = [&](const ChatRequest& request) -> Result<OpenedChat> {
      REPRISE_ASSIGN(auto started, start_session(context_, {.flags = flags,
                                                            .session = request.choice,
                                                            .title = request.title}));
      return OpenedChat{.session = std::make_unique<ChatSession>(context_, flags, Approver(),
                                                                 std::move(started))};
    };
    Repl repl({.context = context_,
               .source = source,
               .interrupts = interrupts,
               .open = open,
               .person = person},
              {.session = std::make_unique<ChatSession>(context_, flags, Approver(),
                                                        *std::move(conversation))});
    ran.exit = repl.run();
    ran.remembered = std::move(source.remembered);
    return ran;
  }

  Store& store() { return **context_.stores().open(); }

  std::vector<std::string> words(const SessionId& id) {
    std::vector<std::string> out;
    const std::vector<Message> messages = *read_all(store(), id);
    for (const Message& message : messages) {
      out.push_back(plain_text(message));
    }
    return out;
  }

  std::vector<SessionInfo> sessions() { return store().list({})->sessions; }

  // The output since the last call.
  static std::string taken(Output& output, const Fd& fd, off_t& from) {
    EXPECT_TRUE(output.flush());
    std::string text(static_cast<std::size_t>(::lseek(fd.get(), 0, SEEK_END) - from), '\0');
    EXPECT_EQ(::pread(fd.get(), text.data(), text.size(), from), static_cast<ssize_t>(text.size()));
    from += static_cast<off_t>(text.size());
    return text;
  }
  std::string out() { return taken(out_, out_file_, out_seen_); }
  std::string err() { return taken(err_, err_file_, err_seen_); }

 private:
  static Globals in_memory() {
    Globals globals;
    globals.store = "memory:";
    return globals;
  }

  Globals globals_ = in_memory();
  ProcessEnvironment environment_{{{"HOME", "/nonexistent"}}};
  Fd out_file_{::memfd_create("out", MFD_CLOEXEC)};
  Fd err_file_{::memfd_create("err", MFD_CLOEXEC)};
  off_t out_seen_ = 0;
  off_t err_seen_ = 0;
  Output out_{out_file_.get(), "standard output"};
  Output err_{err_file_.get(), "standard error"};

 protected:
  Context context_{globals_, environment_, out_, err_};
};

using Words = std::vector<std::string>;

TEST_F(ReplTest, StoresTurnsAndUsesTheFirstPromptAsTitle) {
  const Ran ran = run({"hello there", "", "second"});
  EXPECT_EQ(ran.exit, Exit::success);
  EXPECT_EQ(words(*ran.id), (Words{"hello there", "hello there", "second", "second"}));
  EXPECT_EQ(get(store(), *ran.id)->info.title, "hello there");
  EXPECT_EQ(out(), "hello there\nsecond\n");
}

TEST_F(ReplTest, RemovesASessionWithoutMessages) {
  EXPECT_EQ(run({"/help", "/session", "/quit"}).exit, Exit::success);
  EXPECT_TRUE(sessions().empty());
  EXPECT_EQ(run({"/todo add milk"}).exit, Exit::success);
  EXPECT_EQ(sessions().size(), 1U);
}

TEST_F(ReplTest, TakesBackTheTitleWithTheFirstQuestion) {
  run({"one", "/rewind"});
  EXPECT_TRUE(sessions().empty());
  const Ran ran = run({"one", "/rewind", "two"});
  EXPECT_EQ(get(store(), *ran.id)->info.title, "two");
}

TEST_F(ReplTest, RemembersThePromptsOfTheSessionOnResume) {
  const Ran first = run({"one", "two", "/title Mine"});
  const Ran again = run({"three"}, first.id->str());
  EXPECT_EQ(again.id, first.id);
  EXPECT_EQ(again.remembered, (Words{"one", "two", "three"}));
  EXPECT_EQ(words(*first.id).size(), 6U);
  EXPECT_EQ(get(store(), *first.id)->info.title, "Mine");
  const std::string errors = err();
  EXPECT_NE(errors.find("you: two"), std::string::npos) << errors;
}

TEST_F(ReplTest, ReopensAClosedSession) {
  const Ran first = run({"one"});
  ASSERT_TRUE(store().update(*first.id,
                             {.state = SessionState::closed, .closed_at = context_.clock().now()}));
  run({"/session"}, first.id->str());
  const SessionInfo info = get(store(), *first.id)->info;
  EXPECT_EQ(info.state, SessionState::active);
  EXPECT_EQ(info.closed_at, std::nullopt);
}

TEST_F(ReplTest, RewindsAndRetries) {
  const Ran ran = run({"one", "two", "three", "/rewind 2", "four", "/retry"});
  EXPECT_EQ(ran.exit, Exit::success);
  EXPECT_EQ(words(*ran.id), (Words{"one", "one", "four", "four"}));
  err();
  run({"/rewind 3", "/rewind 0"}, ran.id->str());
  const std::string errors = err();
  EXPECT_NE(errors.find("; the session has 2 turns"), std::string::npos) << errors;
  EXPECT_NE(errors.find("at least one turn"), std::string::npos) << errors;
  EXPECT_EQ(words(*ran.id).size(), 4U);
}

TEST_F(ReplTest, ForksAndContinuesInTheCopy) {
  const Ran ran = run({"one", "two", "/fork 2", "other"});
  EXPECT_EQ(words(*ran.id), (Words{"one", "one", "two", "two"}));
  ASSERT_EQ(sessions().size(), 2U);
  const SessionInfo copy = sessions()[0].id == *ran.id ? sessions()[1] : sessions()[0];
  EXPECT_EQ(words(copy.id), (Words{"one", "one", "other", "other"}));
  EXPECT_EQ(copy.forked_from, (ForkOrigin{.session = *ran.id, .at = Seq{2}}));
  EXPECT_EQ(copy.title, "one (fork)");
  EXPECT_EQ(get(store(), *ran.id)->info.title, "one");
}

TEST_F(ReplTest, ChangesModelAndSystemPrompt) {
  const Ran ran = run({"/model other", "/system Be kind.", "one"});
  const Session session = *get(store(), *ran.id);
  EXPECT_EQ(session.info.model, "other");
  EXPECT_EQ(session.system_prompt, "Be kind.");
  EXPECT_EQ(read_all(store(), *ran.id)->back().model, "other");
  run({"/system -"}, ran.id->str());
  EXPECT_EQ(get(store(), *ran.id)->system_prompt, "");
}

TEST_F(ReplTest, StoresTodos) {
  const Ran ran = run({"/todo add buy\tmilk", "/todo add sell", "/todo done 1", "/todo done 3"});
  const auto todos = store().capabilities().todos->todos(*ran.id);
  ASSERT_EQ(todos->size(), 2U);
  EXPECT_EQ((*todos)[0].content, "buy milk");
  EXPECT_EQ((*todos)[0].status, TodoStatus::completed);
  EXPECT_NE(out().find("1. [x] buy milk\n2. [ ] sell\n"), std::string::npos);
  EXPECT_NE(err().find("there is no todo 3; the list has 2"), std::string::npos);
}

TEST_F(ReplTest, ContinuesAfterFailuresAndReportsThemToScripts) {
  EXPECT_EQ(run({"/titel", "one"}).exit, Exit::success);
  const Ran ran = run({"/titel", "one"}, std::nullopt, false);
  EXPECT_EQ(ran.exit, Exit::failed);
  EXPECT_EQ(words(*ran.id), (Words{"one", "one"}));
  EXPECT_NE(err().find("did you mean '/title'?"), std::string::npos);
}

TEST_F(ReplTest, SendsADoubledSlashAsText) {
  const Ran ran = run({"//help", "/usr/bin is full"});
  EXPECT_EQ(words(*ran.id), (Words{"/help", "/help", "/usr/bin is full", "/usr/bin is full"}));
}

TEST_F(ReplTest, QuitsAtTheSecondCtrlC) {
  const Ran once = run({"one", "^C", "two"});
  EXPECT_EQ(once.exit, Exit::success);
  EXPECT_EQ(words(*once.id).size(), 4U);
  const Ran twice = run({"one", "^C", "^C", "two"});
  EXPECT_EQ(twice.exit, Exit::interrupted);
  EXPECT_EQ(words(*twice.id), (Words{"one", "one"}));
  EXPECT_EQ(get(store(), *twice.id)->info.title, "one");
  // Input in between resets the count.
  EXPECT_EQ(run({"^C", "one", "^C", "two"}).exit, Exit::success);
}

TEST_F(ReplTest, QuitsAtOnceOnTerminationOrWithoutAUser) {
  const Ran ended = run({"one", "^T", "two"});
  EXPECT_EQ(ended.exit, Exit::interrupted);
  EXPECT_EQ(words(*ended.id).size(), 2U);
  EXPECT_EQ(run({"one", "^C", "two"}, std::nullopt, false).exit, Exit::interrupted);
}

TEST_F(ReplTest, ResumesAStoredSession) {
  const Ran first = run({"one", "/title First", "/session close"});
  EXPECT_EQ(get(store(), *first.id)->info.state, SessionState::closed);
  const Ran second = run({"two", "/resume", "/resume 1", "three", "/session save"});
  EXPECT_EQ(words(*first.id), (Words{"one", "one", "three", "three"}));
  EXPECT_EQ(words(*second.id), (Words{"two", "two"}));
  const std::string output = out();
  EXPECT_TRUE(output.contains("Resumable sessions:\n  1. First (")) << output;
  EXPECT_TRUE(output.contains("Session saved to:")) << output;
  const std::string errors = err();
  EXPECT_TRUE(errors.contains("saved as 'two'")) << errors;
  EXPECT_TRUE(errors.contains("Resumed session: First")) << errors;
}

TEST_F(ReplTest, GoesOnInTheSessionIfAnotherCannotBeOpened) {
  const Ran ran = run({"one", "/resume nosuch", "/session new /no/such/folder", "two"});
  EXPECT_EQ(words(*ran.id), (Words{"one", "one", "two", "two"}));
  EXPECT_EQ(sessions().size(), 1U);
}

TEST_F(ReplTest, RemovesStoredSessions) {
  const Ran first = run({"one", "/session close"});
  const Ran second = run({"two", "/session close"});
  const Ran third = run({"three", "/session close"});
  const auto state = [this](const Ran& ran) { return get(store(), *ran.id)->info.state; };
  run({cat("/resume delete ", first.id->str()), "/resume clear", "n"});
  EXPECT_EQ(state(first), SessionState::trashed);
  EXPECT_EQ(state(second), SessionState::closed);
  run({"/resume clear", "y"});
  EXPECT_EQ(state(second), SessionState::trashed);
  EXPECT_EQ(state(third), SessionState::trashed);
}

TEST_F(ReplTest, BeginsAnotherSession) {
  const Ran ran = run({"one", "/session new --name Second", "two", "/session list"});
  EXPECT_EQ(words(*ran.id), (Words{"one", "one"}));
  ASSERT_EQ(sessions().size(), 2U);
  const std::string output = out();
  EXPECT_TRUE(output.contains("* 1. 'Second' (")) << output;
}

TEST_F(ReplTest, ExplainsHowToContinueAnIncompleteAnswer) {
  const Ran ran = run({"one"});
  Message cut{.role = std::string(role::kAssistant)};
  cut.blocks.emplace_back(text_block("half an ans"));
  cut.state = MessageState::incomplete;
  ASSERT_TRUE(store().append(*ran.id, {cut}, {}));
  err();
  run({"/go-on"}, ran.id->str());
  EXPECT_NE(err().find("/go-on continues it"), std::string::npos);
  EXPECT_EQ(read_all(store(), *ran.id)->back().state, MessageState::complete);
}

}  // namespace
}  // namespace reprise::cli
