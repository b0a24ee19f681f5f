// Tests sessions that cannot simply be continued, in the real program on a pseudo-terminal.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "cli/repl/testing/terminal.h"

namespace reprise::cli::app {
namespace {

class AppRefusedTerminalTest : public TerminalTest {
 protected:
  // A session of Claude Code, imported.
  void import_one() {
    const std::filesystem::path folder = home() / ".claude/projects/-x";
    std::filesystem::create_directories(folder);
    const std::string common =
        cat(R"("sessionId":"7b0a4a52-1111-4222-8333-123456789abc","cwd":")", home().native(),
            R"(","version":"2.1.0","timestamp":"2026-01-02T03:04:05.000Z","message":)");
    std::ofstream(folder / "7b0a4a52-1111-4222-8333-123456789abc.jsonl")
        << R"({"type":"user","uuid":"u1","parentUuid":null,)" << common
        << R"({"role":"user","content":"Begun elsewhere"}})"
        << "\n"
        << R"({"type":"assistant","uuid":"a1","parentUuid":"u1",)" << common
        << R"({"id":"m1","role":"assistant","model":"claude-x",)"
        << R"("content":[{"type":"text","text":"claude-words"}]}})"
        << "\n";
    printed("import claude:");
  }

  void make_session_in(const std::filesystem::path& folder) {
    std::filesystem::create_directories(folder);
    printed(cat("--version; export HOME=\"$PWD\"; cd '", folder.native(), "' && '", REPRISE_PROGRAM,
                "' ask --provider echo first-words"));
  }

  bool lists(std::string_view text) const {
    return printed("list --all --json").find(text) != std::string::npos;
  }
};

TEST_F(AppRefusedTerminalTest, KeepsASessionThatNobodyContinuesOnTheScreen) {
  import_one();
  start({"resume", "last"}, "0", {"REPRISE_PROVIDER="});
  await("claude-words");
  await("ANTHROPIC_API_KEY");
  await("/provider");
  await("read-only");
  type("other-words\r");
  await("sent:");
  EXPECT_TRUE(lists(R"("messages":2)"));
  type("\x15/provider echo\r");
  await("using");
  type("\x1bOA\x1bOA");  // Up: the message that was not sent
  await("other-words");
  type("\r");
  await("now");
  type("\x04");
  EXPECT_EQ(end(), 0);
  EXPECT_TRUE(lists(R"("messages":4)"));
  EXPECT_FALSE(lists(R"("messages":2)"));
}

TEST_F(AppRefusedTerminalTest, AnImportedSessionGoesOnWithTheUsersProvider) {
  import_one();
  start({"resume", "last"});
  await("Resumed");
  EXPECT_NE(screen().find("claude-words"), std::string::npos);
  EXPECT_NE(screen().find("continues"), std::string::npos);
  type("more-words\r");
  await("more-words");
  await("now");
  type("\x04");
  EXPECT_EQ(end(), 0);
  EXPECT_TRUE(lists(R"("messages":4)"));
}

TEST_F(AppRefusedTerminalTest, AsksOnceWhetherASessionLeavesAFolderThatIsGone) {
  const std::string old = (home() / "old").native();
  const std::string here = cat(R"("working_dir":")", home().native(), "\"");
  const std::string there = cat(R"("working_dir":")", old, "\"");
  make_session_in(old);
  std::filesystem::remove(old);
  start({"resume", "first-words"});
  await("from");  // now on?
  type("n");
  await("first-words");
  type("second-words\r");
  await("second-words");
  await("now");
  type("/model other\r");  // opens the session again
  await("using");
  type("third-words\r");
  await("third-words");
  await("now");
  type("\x04");
  EXPECT_EQ(end(), 0);
  EXPECT_TRUE(lists(there)) << "the user declined";

  start({"resume", "first-words"});
  await("from");
  type("y");
  await("first-words");
  EXPECT_TRUE(lists(there)) << "only looked at";
  type("fourth-words\r");
  await("belongs");
  type("\x04");
  EXPECT_EQ(end(), 0);
  EXPECT_TRUE(lists(here));
}

}  // namespace
}  // namespace reprise::cli::app
