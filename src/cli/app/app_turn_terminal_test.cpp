// Tests a turn's effect on the terminal, closing a session during a turn, and signals during the
// editor.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "cli/repl/testing/terminal.h"

namespace reprise::cli::app {
namespace {

class AppTurnTerminalTest : public TerminalTest {};

// Ctrl-W during an answer: the partial answer is stored, and the session can be continued.
TEST_F(AppTurnTerminalTest, ClosesATabDuringAnAnswer) {
  start({}, "300");
  await("Reprise");
  type("aa bb cc dd ee ff gg hh ii jj kk ll\r");
  await("answering");
  await("token");
  await("cc");
  type("\x17");
  await("?");
  type("y");
  await("No session");
  type("\x04");
  EXPECT_EQ(end(), 0);
  const std::string shown = printed("show last --json");
  EXPECT_NE(shown.find(R"("state":"interrupted")"), std::string::npos) << shown;
  EXPECT_NE(shown.find(R"("state":"incomplete")"), std::string::npos) << shown;
  EXPECT_NE(shown.find(R"("text":"aa bb)"), std::string::npos) << shown;
  EXPECT_NE(printed("list").find("interrupted"), std::string::npos);
}

TEST_F(AppTurnTerminalTest, CopiesAnAnswerThroughTheTerminal) {
  start({});
  await("Reprise");
  type("alpha\r");
  await("now");
  type("/copy\r");
  await("\x1b]52;c;YWxwaGE=\a");  // "alpha"
  type("\x04");
  EXPECT_EQ(end(), 0);
}

TEST_F(AppTurnTerminalTest, RingsWhenAnAnswerEndsInTheBackground) {
  start({}, "200");
  await("Reprise");
  type("aa bb cc dd ee ff\r");
  await("token");
  type("/new\r");
  await("•");  // the first tab has unread text
  type("\x04");
  EXPECT_EQ(end(), 0);
  // A bell character also ends each window title.
  const std::string& all = screen();
  std::ptrdiff_t titles = 0;
  for (std::size_t at = 0; (at = all.find("\x1b]2;", at)) != std::string::npos; ++at) {
    ++titles;
  }
  EXPECT_GT(std::ranges::count(all, '\a'), titles);
}

TEST_F(AppTurnTerminalTest, SendsTheFilesOfAnEditedQuestionAgain) {
  std::ofstream(home() / "my notes.txt") << "words of a file";
  start({});
  await("Reprise");
  type("see @\"my notes.txt\"\r");
  await("attached");
  await("now");
  type("\x1b");
  type("\x1b");
  await("replaces");
  type(" again\r");
  await("attached");
  await("now");
  type("/attach my notes.txt\r");
  type("plain\r");
  await("now");
  type("\x1b");
  type("\x1b");
  await("replaces");
  type(" twice\r");
  await("attached again");
  await("now");
  type("\x04");
  EXPECT_EQ(end(), 0);
  const std::string shown = printed("show last --json");
  std::size_t files = 0;
  for (std::size_t at = 0; (at = shown.find("File my notes.txt", at)) != std::string::npos; ++at) {
    ++files;
  }
  EXPECT_GE(files, 2U) << shown;
  EXPECT_NE(shown.find("plain twice"), std::string::npos) << shown;
}

TEST_F(AppTurnTerminalTest, RefusesAFileAtOnce) {
  std::ofstream(home() / "my notes.txt") << "words of a file";
  start({});
  await("A new session");
  type("/attach nofile\r");
  await("cannot open");
  type("/attach my notes.txt\r");
  await("attached: my notes.txt");
  type("look\r");
  await("attached my notes.txt");
  await("now");
  type("\x04");
  EXPECT_EQ(end(), 0);
  const std::string shown = printed("show last --json");
  EXPECT_NE(shown.find("File my notes.txt"), std::string::npos) << shown;
}

TEST_F(AppTurnTerminalTest, SendsTextTypedAtTheOfferToANewSession) {
  printed("ask --provider echo alpha-words");
  start({});
  await("Resume");
  type("beta-");
  await("Enter sends this to a new session");
  type("words\r");
  await("now");
  type("\x04");
  EXPECT_EQ(end(), 0);
  EXPECT_NE(printed("list").find("beta-words"), std::string::npos);
}

TEST_F(AppTurnTerminalTest, CtrlCAndResizesBelongToTheEditor) {
  const std::filesystem::path editor = home() / "editor";
  std::ofstream(editor) << "#!/bin/sh\ntrap 'echo interrupted' INT\ntrap 'echo resized' WINCH\n"
                           "kill -WINCH $$\nuntil read -r line; do :; done\n"
                           "printf edited-text >\"$1\"\n";
  std::filesystem::permissions(editor, std::filesystem::perms::owner_all);
  start({}, "0", {cat("VISUAL=", editor.string())});
  await("Reprise");
  type("\x18\x05");
  await("resized");
  for (int i = 0; i < 3; ++i) {
    type("\x03");
    await("interrupted");
  }
  type("\n");
  await("edited-text");
  type("\r");
  await("out");
  type("\x04");
  EXPECT_EQ(end(), 0);
}

}  // namespace
}  // namespace reprise::cli::app
