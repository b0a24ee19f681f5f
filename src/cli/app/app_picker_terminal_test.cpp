// Tests the picker in the real program on a pseudo-terminal.

#include <gtest/gtest.h>

#include "base/text.h"
#include "cli/repl/testing/terminal.h"

namespace reprise::cli::app {
namespace {

// ncurses moves the cursor over blanks, so tests await single words.
class AppPickerTerminalTest : public TerminalTest {};

TEST_F(AppPickerTerminalTest, PicksASession) {
  printed("ask --provider echo alpha-words");
  printed("ask --provider echo beta-words");
  start({"resume"});
  await("filter");
  await("alpha-words");
  type("alp\r");
  await("Resumed");
  type("\x04");
  EXPECT_EQ(end(), 0);
  EXPECT_NE(printed("list --json").find(R"("title":"alpha-words","mode":"","state":"closed")"),
            std::string::npos);
}

TEST_F(AppPickerTerminalTest, ShowsTheRoleOfMessagesFound) {
  printed("ask --provider echo beta-words");
  start({"resume"});
  await("filter");
  type("\x06");
  type("beta-words");
  await("You:");
  type("\x1b");
  type("\x1b");
  EXPECT_EQ(end(), 0);
}

// Uses the numbers of `reprise list` from this folder and terminal, unless they are old.
TEST_F(AppPickerTerminalTest, UsesNumbersOfTheLastListShown) {
  printed("ask --provider echo alpha-words");
  printed("ask --provider echo beta-words");
  const std::string program = cat("'", REPRISE_PROGRAM, "'");
  start_shell(cat(program, " list >/dev/null; ", program,
                  "; sed -i 's/\"shown_at\":\"20../\"shown_at\":\"2001/' ",
                  ".local/state/reprise/lists/*; ", program));
  await("Resume 'beta-words'");
  type("n");
  await("A new session in");
  type("/resume 2\r");
  await("Resumed session: alpha-words");
  type("\x04");
  await("reprise resume");
  await("Resume '");
  type("n");
  await("A new session in");
  type("/resume 2\r");
  await("is from a list shown");
  type("/resume delete 2\r");
  type("\x04");
  EXPECT_EQ(end(), 0);
  EXPECT_EQ(printed("list --all --state trashed --json"), "[]\n");
}

// Renames one session, moves another to the trash and restores it, and trashes the first.
TEST_F(AppPickerTerminalTest, ChangesFromThePickerAreStored) {
  printed("ask --provider echo alpha-words");
  printed("ask --provider echo beta-words");
  start({"resume"});
  await("filter");
  await("beta-words");
  type("\x1bOQ");  // F2
  type("\x15");
  type("gamma-words\r");
  await("gamma");
  type("\x0e");  // Ctrl-N
  type("\x1b[3~");
  await("restores");
  type("u");
  await("restored");
  type("\x10");  // Ctrl-P
  type("\x1b[3~");
  await("restores");
  type("\x1b");
  EXPECT_EQ(end(), 0);
  const std::string listed = printed("list --all --json");
  EXPECT_NE(listed.find(R"("title":"alpha-words")"), std::string::npos) << listed;
  EXPECT_EQ(listed.find("-words", listed.find("alpha-words") + 11), std::string::npos) << listed;
  const std::string trashed = printed("list --all --state trashed --json");
  EXPECT_NE(trashed.find(R"("title":"gamma-words")"), std::string::npos) << trashed;
}

// A failure to save is printed to the normal screen.
TEST_F(AppPickerTerminalTest, WarnsAfterLeavingTheScreen) {
  start({});
  await("Reprise");
  type("hello-there\r");
  await("now");
  EXPECT_NE(printed("delete last --purge --yes").find("removed"), std::string::npos);
  type("\x04");
  await("\x1b[?1049l");
  await("reprise: warning: Failed to save: ");
  EXPECT_EQ(end(), 2);
}

TEST_F(AppPickerTerminalTest, SaysThatAnotherProgramHasTrashedTheSession) {
  start({});
  await("Reprise");
  type("hello-there\r");
  await("now");
  EXPECT_NE(printed("delete last --yes").find("trash"), std::string::npos);
  type("more-words\r");
  await("another");
  type("\x04");
  await("\x1b[?1049l");
  await("cannot close 'hello-there'");
  await("it is in the trash; `reprise restore");
  EXPECT_EQ(end(), 0);
}

// Ctrl-T, D, y: empties the trash and leaves the other sessions alone.
TEST_F(AppPickerTerminalTest, EmptiesTheTrash) {
  printed("ask --provider echo alpha-words");
  printed("ask --provider echo beta-words");
  printed("delete alpha-words --yes");
  start({"resume"});
  await("filter");
  await("beta-words");
  type("\x14");
  await("alpha-words");
  type("\x18");
  await("for good?");
  type("y");
  await("removed 1 session for good");
  type("\x1b");
  EXPECT_EQ(end(), 0);
  EXPECT_EQ(printed("list --all --state trashed --json"), "[]\n");
  EXPECT_NE(printed("list --all --json").find("beta-words"), std::string::npos);
}

}  // namespace
}  // namespace reprise::cli::app
