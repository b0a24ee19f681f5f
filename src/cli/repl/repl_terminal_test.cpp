// Tests the REPL with the program itself on a pseudo-terminal.

#include <gtest/gtest.h>
#include <signal.h>

#include "base/text.h"
#include "cli/repl/testing/terminal.h"

namespace reprise::cli {
namespace {

TEST_F(TerminalTest, SendsAMultiLinePasteAsOneMessage) {
  start({"chat", "--plain"});
  await_prompt();
  type("\x1b[200~first\rsecond\nthird\n\x1b[201~");
  await("third");
  type("!\r");
  await("third!\r\n");
  await_prompt();  // an earlier Ctrl-D would be lost
  type("\x04");
  EXPECT_EQ(end(), 0);
  const std::string shown = printed("show last --json");
  EXPECT_NE(shown.find(R"("text":"first\nsecond\nthird!")"), std::string::npos) << shown;
  EXPECT_NE(shown.find(R"("messages":2)"), std::string::npos) << shown;
}

TEST_F(TerminalTest, AWarningWithinAnAnswerHasALineOfItsOwn) {
  for (int i = 0; i < 2; ++i) {
    start({"--store", "chatdir:d?messages=3", "ask", "hi"});
    EXPECT_EQ(end(), i == 0 ? 0 : 2);
  }
  EXPECT_NE(screen().find("hi\r\nreprise: warning: not saved: "), std::string::npos) << screen();
}

TEST_F(TerminalTest, JoinsLinesAfterABackslashAltEnterAndInAFence) {
  start({"chat", "--plain"});
  await_prompt();
  type("a\\\rb\x1b\r```\rc\r```\r");
  await("\x1b[?2004l");
  await_prompt();
  type("\x04");
  EXPECT_EQ(end(), 0);
  const std::string shown = printed("show last --json");
  EXPECT_NE(shown.find(R"("text":"a\nb\n```\nc\n```")"), std::string::npos) << shown;
}

TEST_F(TerminalTest, CtrlCDiscardsTheLineAndTheSecondQuits) {
  start({"chat", "--plain"});
  await_prompt();
  type("never sent");
  await("never sent");
  const std::size_t typed = screen().size();
  type("\x03");
  await("press Ctrl-C again");
  EXPECT_LT(screen().find('\n', typed), screen().find("press", typed)) << "a line of its own";
  await_prompt();
  type("\x03");
  EXPECT_EQ(end(), 130);
  // The terminal is restored: bracketed paste mode is off.
  EXPECT_GT(screen().rfind("\x1b[?2004l"), screen().rfind("\x1b[?2004h"));
  EXPECT_EQ(printed("list --json"), "[]\n");
}

TEST_F(TerminalTest, CtrlCAtAQuestionBeforeTheTurnStopsIt) {
  start({"ask", "hi"});
  EXPECT_EQ(end(), 0);
  start_shell(cat("mkdir other && cd other && exec '", REPRISE_PROGRAM,
                  "' ask --tools read_file -r hi again"));
  await("the session's folder? [y/N] ");
  type("\x03");
  EXPECT_EQ(end(), 130);
  EXPECT_NE(printed("show last --json").find(R"("messages":2)"), std::string::npos);
}

TEST_F(TerminalTest, StoresThePartialAnswerAfterCtrlCAndContinuesIt) {
  start({"chat", "--plain"}, "100");
  await_prompt();
  type("one two three four five six seven eight nine ten eleven twelve\r");
  await("one two three four five six seven eight nine ten eleven twelve");  // the echo
  await("one two");
  type("\x03");
  await("stopped; what has arrived is saved, /go-on continues it");
  await_prompt();
  type("\x04");
  EXPECT_EQ(end(), 0);
  const std::string shown = printed("show last --json");
  EXPECT_NE(shown.find(R"("state":"incomplete")"), std::string::npos) << shown;
  EXPECT_EQ(shown.find("twelve", shown.find("assistant")), std::string::npos) << shown;
  start({"chat", "--plain", "-c"});
  await("that answer was interrupted; /go-on continues it");
  await_prompt();
  type("/go-on\r");
  await_prompt();
  type("/quit\r");
  EXPECT_EQ(end(), 0);
  EXPECT_EQ(printed("show last --json").find(R"("state":"incomplete")"), std::string::npos);
}

TEST_F(TerminalTest, QuitsAtTheSecondCtrlCAfterStoppingAnAnswer) {
  start({"chat", "--plain"}, "300");
  await_prompt();
  type("one two three four five six\r");
  await("one two three four five six");
  await("one");
  type("\x03");
  await("stopped; what has arrived is saved");
  type("\x03");
  EXPECT_EQ(end(), 130);
  const std::string shown = printed("show last --json");
  EXPECT_NE(shown.find(R"("state":"incomplete")"), std::string::npos) << shown;
}

TEST_F(TerminalTest, StoresThePartialAnswerWhenTerminated) {
  start({"chat", "--plain"}, "300");
  await_prompt();
  type("one two three four five six\r");
  await("one two three four five six");
  await("one");
  ASSERT_EQ(::kill(child(), SIGTERM), 0);
  EXPECT_EQ(end(), 130);
  const std::string shown = printed("show last --json");
  EXPECT_NE(shown.find(R"("state":"incomplete")"), std::string::npos) << shown;
  EXPECT_NE(shown.find(R"("title":"one two three four five six")"), std::string::npos) << shown;
}

TEST_F(TerminalTest, RestoresPromptHistoryOnResume) {
  start({"chat", "--plain"});
  await_prompt();
  type("remember me\r");
  await("remember me\r\n");
  await_prompt();
  type("\x04");
  EXPECT_EQ(end(), 0);
  start({"resume", "--plain"});
  await("1. remember me  (just now)");
  await("Enter number to resume, or 'q' to cancel: ");
  await_prompt();
  type("7\r");
  await("enter a number from 1 to 1, or q");
  await_prompt();
  type("1\r");
  await("you: remember me");
  await_prompt();
  type("\x1b[A");
  await("remember me");
  type(" again\r");
  await("remember me again\r\n");
  await_prompt();
  type("\x04");
  EXPECT_EQ(end(), 0);
}

TEST_F(TerminalTest, WritesNoForeignEscapeSequences) {
  const std::string hostile = "\\033]0;owned\\007\\033[2J";
  printed(cat("--store sqlite:e.db ask --provider echo \"$(printf 'a", hostile, "b')\""));
  start({"--store", "sqlite:e.db", "resume", "--plain"});
  await("Enter number");
  await_prompt();
  type("1\r");
  await_prompt();
  type("/retry\r");
  await_prompt();
  type("\x04");
  EXPECT_EQ(end(), 0);
  EXPECT_EQ(screen().find("\x1b]0;"), std::string::npos) << screen();
  EXPECT_EQ(screen().find("\x1b[2J"), std::string::npos) << screen();
  EXPECT_EQ(screen().find("owned\x07"), std::string::npos) << screen();
}

TEST_F(TerminalTest, PlainModeNeedsNoFullScreen) {
  start({"chat", "--plain"});
  await_prompt();
  type("\x04");
  EXPECT_EQ(end(), 0);
}

TEST_F(TerminalTest, ShowsASessionThroughThePager) {
  printed("ask --provider echo alpha-words");
  start_shell(cat("PAGER=\"sed 's/^/paged: /'\" '", REPRISE_PROGRAM, "' show last"));
  await("paged: ");
  await("alpha-words");
  EXPECT_EQ(end(), 0);
}

const std::vector<std::string> kNobody = {"REPRISE_PROVIDER="};

TEST_F(TerminalTest, WithoutAProviderOffersEchoByOneKey) {
  start({"chat", "--plain"}, "0", kNobody);
  await("No provider is set up");
  await("OPENAI_API_KEY or ANTHROPIC_API_KEY");
  await("s, l, e or q?");
  type("x");
  await("\a");
  await("s, l, e or q?");
  type("l");
  await("No provider is set up");
  await("s, l, e or q?");
  type("\r");
  await_prompt();
  type("hello there\r");
  await("hello there");
  await("hello there");
  await_prompt();
  type("\x04");
  EXPECT_EQ(end(), 0);
}

TEST_F(TerminalTest, WithoutAProviderTheAppOffersTheSame) {
  start({}, "0", kNobody);
  await("s, l, e or q?");
  type("q");
  EXPECT_EQ(end(), 1);
  EXPECT_EQ(screen().find("\x1b[?1049h"), std::string::npos);  // the app was not started
}

TEST_F(TerminalTest, SetsUpAProviderByOneKeyAndContinues) {
  start({"chat", "--plain"}, "0", kNobody);
  await("s, l, e or q?");
  type("s");
  await("provider, by number or name");
  type("nobody\r");
  await("unknown provider 'nobody'");
  await("provider, by number or name");
  type("echo\r");
  await("saved in ~/.config/reprise/config.toml");
  await_prompt();
  type("\x04");
  EXPECT_EQ(end(), 0);
  EXPECT_NE(printed("config get provider").find("echo"), std::string::npos);
}

}  // namespace
}  // namespace reprise::cli
