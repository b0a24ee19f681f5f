// Tests several sessions in the real program on a pseudo-terminal.

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/text.h"
#include "cli/repl/testing/terminal.h"

namespace reprise::cli::app {
namespace {

// ncurses moves the cursor over blanks, so tests await single words.
class AppSessionsTerminalTest : public TerminalTest {};

TEST_F(AppSessionsTerminalTest, OpensSeveralSessionsOfOneFolder) {
  start({});
  await("Reprise");
  type("alpha-words\r");
  await("now");
  type("/new\r");
  await("2");
  type("beta-words\r");
  await("now");
  type("/session new --name Gamma\r");
  await("Gamma");
  type("gamma-words\r");
  await("now");
  type("\x17");  // Ctrl-W
  await("beta-words");
  // The closed session opens in a new tab, the open one is switched to.
  type("\x0f");  // Ctrl-O
  await("filter");
  type("Gamma");
  await("1 match");
  type("\r");
  await("Resumed");
  type("\x0f");
  await("filter");
  type("alpha");
  await("1 match");
  type("\r");
  await("alpha-words");
  type("more-words\r");
  await("more-words");
  await("more-words");
  await("now");
  type("\x04");
  EXPECT_EQ(end(), 0);
  const std::string listed = printed("list --json");
  EXPECT_NE(listed.find(R"("title":"alpha-words","mode":"","state":"closed")"), std::string::npos)
      << listed;
  EXPECT_NE(listed.find(R"("messages":4)"), std::string::npos) << listed;
  EXPECT_EQ(screen().find("already open"), std::string::npos);
}

TEST_F(AppSessionsTerminalTest, SendsAttachments) {
  std::ofstream(home() / "note.txt") << "words of a file";
  std::ofstream(home() / "dot.png") << "\x89PNG\r\n\x1a\nrest";
  start({});
  await("Enter.");
  type("look @no\t");
  await("te.txt");
  type(" and @nobody\r");
  await("attached");
  await("help");
  type("/attach dot.png\rsee\r");
  await("attached");
  await("help");
  type("/attach missing.png\rthird\r");
  await("sent:");
  type("\x15");
  type("\x04");
  EXPECT_EQ(end(), 0);
  const std::string shown = printed("show last --json");
  EXPECT_NE(shown.find("words of a file"), std::string::npos) << shown;
  EXPECT_NE(shown.find("image/png"), std::string::npos) << shown;
  EXPECT_NE(shown.find(R"("messages":4)"), std::string::npos) << shown;
}

TEST_F(AppSessionsTerminalTest, NamesOtherAuthors) {
  const auto ask = [this](const char* author, std::string_view words) {
    ::setenv("REPRISE_AUTHOR", author, 1);
    printed(cat("ask --provider echo ", words));
    ::unsetenv("REPRISE_AUTHOR");
  };
  ask("Ann", "ann-words");
  ask("Bob", "-c bob-words");
  start({"resume", "last"}, "0", {"REPRISE_AUTHOR=Bob"});
  await("Ann");
  await("ann-words");
  await("bob-words");
  await("now");
  type("\x04");
  EXPECT_EQ(end(), 0);
  EXPECT_EQ(screen().find("Bob"), std::string::npos) << screen();
}

TEST_F(AppSessionsTerminalTest, ShowsWhatAnotherProgramAdds) {
  printed("ask --provider echo first-words");
  start({"resume", "last"});
  await("first-words");
  await("now");
  printed("ask --provider echo -c other-words");
  std::this_thread::sleep_for(std::chrono::milliseconds(2100));  // the interval of checks
  type("x");
  await("other-words");
  // Also what was added just before a turn of its own.
  type("\x15third-words");
  printed("ask --provider echo -c fourth-words");
  type("\r");
  await("third-words");
  await("third-words");
  await("now");
  std::this_thread::sleep_for(std::chrono::milliseconds(2100));
  type("x\x15");
  await("fourth-words");
  type("\x04");
  EXPECT_EQ(end(), 0);
  const std::string shown = printed("show last --json");
  EXPECT_NE(shown.find(R"("messages":8)"), std::string::npos) << shown;
}

TEST_F(AppSessionsTerminalTest, ReopensASessionThatAnotherWindowClosed) {
  start({});
  await("Reprise");
  type("first-words\r");
  await("now");
  printed("close last");
  EXPECT_NE(printed("list --json").find(R"("state":"closed")"), std::string::npos);
  type("second-words\r");
  await("second-words");
  await("second-words");
  await("now");
  EXPECT_NE(printed("list --json").find(R"("state":"active")"), std::string::npos);
  type("\x04");
  EXPECT_EQ(end(), 0);
}

TEST_F(AppSessionsTerminalTest, ReplacesTheLastQuestion) {
  start({});
  await("Reprise");
  type("first-words\r");
  await("now");
  await("help");
  type("\x1b\x1b");
  await("replaces");
  type("-changed\r");
  await("first-words-changed");
  await("first-words-changed");
  await("now");
  type("\x04");
  EXPECT_EQ(end(), 0);
  const std::string shown = printed("show last --json");
  EXPECT_NE(shown.find(R"("messages":2)"), std::string::npos) << shown;
  EXPECT_NE(shown.find(R"("text":"first-words-changed")"), std::string::npos) << shown;
}

TEST_F(AppSessionsTerminalTest, SetsTheWindowTitleAndExplainsHowToResume) {
  start({});
  await("\x1b[22;2t");
  await("Reprise");
  type("hello-there\r");
  await("\x1b]2;hello-there - reprise\a");
  type("/quit\r");
  await("\x1b[23;2t");
  await("'hello-there': reprise resume ");
  EXPECT_EQ(end(), 0);
  const std::size_t at = screen().find("reprise resume ") + 15;
  const std::string id = screen().substr(at, screen().find_first_of("\r\n", at) - at);
  EXPECT_NE(printed(cat("show ", id)).find("hello-there"), std::string::npos) << id;
}

TEST_F(AppSessionsTerminalTest, ScrollsByTheWheel) {
  printed("ask --provider echo \"$(seq 1 100)\"");
  start({});
  await("Resume");
  type("\r");
  await("100");
  await("now");
  type("\x1b[<64;10;10M");
  await("more");
  type("\x04");
  EXPECT_EQ(end(), 0);
  // The terminal is restored.
  EXPECT_GT(screen().rfind("\x1b[?1006;1000l"), screen().rfind("\x1b[?1006;1000h"));
}

TEST_F(AppSessionsTerminalTest, KeepsOneSessionPerFolderOpenIfTheStoreRequiresIt) {
  start({"--store", "sessions:s"});
  await("Reprise");
  type("alpha-words\r");
  await("now");
  type("/new\r");
  await("saved");
  await("closed");
  type("beta-words\r");
  await("now");
  type("/resume\r");
  await("No sessions to resume.");
  type("/resume alpha-words\r");
  await("Project already open in another session.");
  type("/session close\r");
  await("No session is open");
  type("/resume\r");
  await("Use /resume");
  type("/resume alpha-words\r");
  await("Resumed");
  type("\x04");
  EXPECT_EQ(end(), 0);
  const std::string listed = printed("list --all --state closed --store sessions:s --json");
  EXPECT_NE(listed.find("alpha-words"), std::string::npos) << listed;
  EXPECT_NE(listed.find("beta-words"), std::string::npos) << listed;
}

TEST_F(AppSessionsTerminalTest, BeginsANewSessionAfterTheResumedOne) {
  printed("ask --store chatdir:c --provider echo alpha-words");
  start({"--store", "chatdir:c", "-r", "last"});
  await("Resumed");
  type("/new\r");
  await("Type");
  type("beta-words\r");
  await("now");
  type("\x04");
  EXPECT_EQ(end(), 0);
  const std::string listed = printed("list --all --store chatdir:c --json");
  EXPECT_EQ(listed.find(R"("messages":4)"), std::string::npos) << listed;
  EXPECT_NE(listed.find("beta-words"), std::string::npos) << listed;
}

TEST_F(AppSessionsTerminalTest, DoesNotOpenWithoutTheSessionNamed) {
  printed("ask --provider echo alpha-words");
  start({"-r", "nope"});
  await("no session matches 'nope'");
  EXPECT_EQ(end(), 1);
  EXPECT_EQ(screen().find("\x1b[?1049h"), std::string::npos);
}

TEST_F(AppSessionsTerminalTest, UsesTheSettingsOfATabsFolder) {
  std::filesystem::create_directories(home() / ".config/reprise");
  std::filesystem::create_directories(home() / "other");
  std::ofstream(home() / ".config/reprise/config.toml")
      << "trust = [\"" << (home() / "other").string() << "\"]\n";
  std::ofstream(home() / "other/.reprise.toml")
      << "model = \"folder-model\"\nsystem = \"folder-rules\"\n"
      << "store = \"sqlite:" << (home() / "own.db").string() << "\"\n";
  start({});
  await("Reprise");
  type("first-words\r");
  await("now");
  type("/session new other\r");
  await("folder-model");
  type("other-words\r");
  await("now");
  type("/system\r");
  await("folder-rules");
  type("/session save\r");
  await("own.db");
  type("/export transcript.md\r");
  await("wrote");
  EXPECT_TRUE(std::filesystem::exists(home() / "other/transcript.md"));
  type("\x04");
  EXPECT_EQ(end(), 0);
  const std::string here = printed("list --all --json");
  EXPECT_NE(here.find("first-words"), std::string::npos) << here;
  EXPECT_EQ(here.find("other-words"), std::string::npos) << here;
  const std::string there = printed("list --all --json --store sqlite:own.db");
  EXPECT_NE(there.find(R"("title":"other-words","mode":"","state":"closed")"), std::string::npos)
      << there;
  EXPECT_EQ(there.find("first-words"), std::string::npos) << there;
}

TEST_F(AppSessionsTerminalTest, ContinuesASessionInItsStore) {
  printed(cat("--version; export HOME=\"$PWD\"; mkdir -p other .config/reprise; cd other && '",
              REPRISE_PROGRAM, "' ask --provider echo alpha-words"));
  std::ofstream(home() / ".config/reprise/config.toml")
      << "trust = [\"" << (home() / "other").string() << "\"]\n";
  std::ofstream(home() / "other/.reprise.toml")
      << "budget = 7777\nstore = \"sqlite:" << (home() / "own.db").string() << "\"\n";
  start({});
  await("Reprise");
  type("/resume\r");
  await("1.");
  await("Use /resume");
  type("/resume 1\r");
  await("7,777");  // the folder's settings are used
  type("again\r");
  await("now");
  type("\x04");
  EXPECT_EQ(end(), 0);
  EXPECT_NE(printed("list --all --json").find(R"("messages":4)"), std::string::npos);
}

}  // namespace
}  // namespace reprise::cli::app
