// Tests the full-screen program on a pseudo-terminal: its output, and what is stored.

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "base/text.h"
#include "cli/repl/testing/terminal.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"

namespace reprise::cli::app {
namespace {
// ncurses moves the cursor over blanks, so tests await single words.
class AppTerminalTest : public TerminalTest {};

TEST_F(AppTerminalTest, ChatsAndResumes) {
  start({});
  await("Reprise");
  type("hello-there\r");
  await("hello-there");
  await("now");  // the answer has ended
  type("/quit\r");
  EXPECT_EQ(end(), 0);
  const std::string shown = printed("show last --json");
  EXPECT_NE(shown.find(R"("state":"closed")"), std::string::npos) << shown;
  EXPECT_NE(shown.find(R"("title":"hello-there")"), std::string::npos) << shown;

  start({});
  await("Resume");
  type("\r");
  await("out");
  type("again\r");
  await("out");
  type("\x04");
  EXPECT_EQ(end(), 0);
  EXPECT_NE(printed("show last --json").find(R"("messages":4)"), std::string::npos);
}

TEST_F(AppTerminalTest, AsksBeforeToolsUseTheFolderOfASession) {
  printed(cat("version; cd / && HOME='", home().string(), "' '", REPRISE_PROGRAM,
              "' ask -q --provider echo elsewhere"));
  const std::string listed = printed("list --all --json");
  constexpr std::string_view kId = R"("id":")";
  const std::size_t at = listed.find(kId);
  ASSERT_NE(at, std::string::npos) << listed;
  const std::string id = listed.substr(at + kId.size(), 36);
  start({"--tools", "read_file"});
  await("Reprise");
  type(cat("/resume ", id, "\r"));
  await("folder?");
  type("n");
  await("tools");
  type(cat("/resume ", id, "\r"));
  await("folder?");
  type("y");
  await("Resumed");
  type("\x04");
  EXPECT_EQ(end(), 0);
}

TEST_F(AppTerminalTest, QuitsDuringAConsentDialog) {
  printed(cat("version; cd / && HOME='", home().string(), "' '", REPRISE_PROGRAM,
              "' ask -q --provider echo elsewhere"));
  start({"resume", "--all", "--tools", "read_file"});
  await("elsewhere");
  type("\r");
  await("folder?");
  ASSERT_EQ(::kill(child(), SIGTERM), 0);
  EXPECT_EQ(end(), 130);
}

TEST_F(AppTerminalTest, CountsWhatItWouldClear) {
  for (const char* const prompt : {"first", "second"}) {
    printed(cat("ask -q --provider echo ", prompt));
    printed("close last");
  }
  start({});
  await("Resume");
  type("n");
  await("Enter.");
  type("/resume clear\r");
  await("Clear");
  await("2");
  await("saved");
  type("y");
  await("Cleared");
  type("\x04");
  EXPECT_EQ(end(), 0);
  EXPECT_EQ(printed("list --all --state closed --json"), "[]\n");
}

TEST_F(AppTerminalTest, ReportsUnreadableSessionsWhenClearing) {
  printed("ask -q --store sessions:s --provider echo first");
  printed("close last --store sessions:s");
  start({"--store", "sessions:s"});
  await("Resume");
  type("n");
  await("Enter.");
  type("/resume clear\r");
  await("saved");
  ASSERT_TRUE(replace_file(home() / "s" / "damaged.json", "[]"));
  type("y");
  await("cannot");
  await("damaged.json");
  await("Cleared");
  type("\x04");
  EXPECT_EQ(end(), 0);
}

TEST_F(AppTerminalTest, RemovesSessionsWithoutMessages) {
  start({});
  await("Reprise");
  type("\x04");
  EXPECT_EQ(end(), 0);
  EXPECT_EQ(printed("list --json"), "[]\n");
}

TEST_F(AppTerminalTest, LeavesTheSessionThatWasForkedAsItIs) {
  for (const std::string& store : {std::string("sqlite:s.db"), std::string("sessions:s")}) {
    start({"--store", store});
    await("Reprise");
    type("hello-there\r");
    await("out");
    await("help");
    type("/fork\r");
    await("all");
    type("\r");
    await("original");
    type("\x04");
    EXPECT_EQ(end(), 0);
    const std::string listed = printed(cat("--store ", store, " list --json"));
    const bool stays_open = listed.contains(R"("title":"hello-there","mode":"","state":"active")");
    EXPECT_EQ(stays_open, store.starts_with("sqlite")) << listed;
    EXPECT_NE(listed.find("hello-there (fork)"), std::string::npos) << listed;
  }
}

TEST_F(AppTerminalTest, KeepsTheTextOfAStoppedAnswer) {
  start({}, "100");
  await("Reprise");
  type("aa bb cc dd ee ff gg hh ii jj kk ll mm nn oo pp qq rr ss tt\r");
  await("answering");
  await("token");
  type("\x03");
  await("stopped;");
  type("\x03");
  EXPECT_EQ(end(), 130);
  const std::string shown = printed("show last --json");
  EXPECT_NE(shown.find(R"("state":"incomplete")"), std::string::npos) << shown;
}

TEST_F(AppTerminalTest, KeepsTheSessionResumableWhenTheTerminalIsClosed) {
  start({}, "300");
  await("Reprise");
  type("aa bb cc dd ee ff gg hh\r");
  await("answering");
  await("token");
  const auto deadline = std::chrono::steady_clock::now() + kTerminalPatience;
  while (printed("show last --json").find(R"("state":"incomplete")") == std::string::npos) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "no part of the answer is stored";
  }
  ASSERT_EQ(::kill(child(), SIGHUP), 0);
  await("\x1b[?1049l");  // the terminal is still there, and the shell gets it back
  EXPECT_EQ(end(), 130);
  const std::string listed = printed("list --json");
  EXPECT_NE(listed.find(R"("state":"interrupted")"), std::string::npos) << listed;
  start({});
  await("Resume");
  type("\r");
  await("interrupted;");
  type("/go-on\r");
  await("now");
  type("\x04");
  EXPECT_EQ(end(), 0);
}

TEST_F(AppTerminalTest, SavesTheAnswerWhenTerminated) {
  start({}, "300");
  await("Reprise");
  type("aa bb cc dd ee ff gg hh\r");
  await("answering");
  await("token");
  ASSERT_EQ(::kill(child(), SIGTERM), 0);
  EXPECT_EQ(end(), 130);
  const std::string shown = printed("show last --json");
  EXPECT_NE(shown.find(R"("state":"interrupted")"), std::string::npos) << shown;
  EXPECT_NE(shown.find(R"("state":"incomplete")"), std::string::npos) << shown;
}

TEST_F(AppTerminalTest, EditsTheInputInAnEditor) {
  const std::filesystem::path editor = home() / "editor";
  std::ofstream(editor) << "#!/bin/sh\nprintf edited-text >\"$1\"\n";
  std::filesystem::permissions(editor, std::filesystem::perms::owner_all);
  start({}, "0", {cat("VISUAL=", editor.string())});
  await("Reprise");
  type("draft\x18\x05");
  await("edited-text");
  type("\r");
  await("out");
  type("\x04");
  EXPECT_EQ(end(), 0);
  const std::string shown = printed("show last --json");
  EXPECT_NE(shown.find(R"("text":"edited-text")"), std::string::npos) << shown;
}

TEST_F(AppTerminalTest, SendsAMultiLinePasteAsOneMessage) {
  start({});
  await("Reprise");
  type("\x1b[200~first\rsecond\nthird\x1b[201~");
  await("third");
  type("!\r");
  await("out");
  type("\x04");
  EXPECT_EQ(end(), 0);
  const std::string shown = printed("show last --json");
  EXPECT_NE(shown.find(R"("text":"first\nsecond\nthird!")"), std::string::npos) << shown;
}

TEST_F(AppTerminalTest, DistinguishesEscFromAnImmediateAltKey) {
  start({});
  await("Reprise");
  type("one-word\x1b\x1b\rtwo-words\r");
  await("now");
  type("\x04");
  EXPECT_EQ(end(), 0);
  const std::string shown = printed("show last --json");
  EXPECT_NE(shown.find(R"("text":"one-word\ntwo-words")"), std::string::npos) << shown;
}

// No process has the session open, but none was generating an answer either.
TEST_F(AppTerminalTest, ListsOnlyAnsweringSessionsAsInterrupted) {
  printed(cat("--version; export HOME=\"$PWD\"; mkdir other && cd other && '", REPRISE_PROGRAM,
              "' ask --provider echo alpha-words"));
  start({});
  await("Reprise");
  type("/resume list\r");
  await("active");
  type("\x04");
  EXPECT_EQ(end(), 0);
  EXPECT_EQ(screen().find("interrupted"), std::string::npos);
}

TEST_F(AppTerminalTest, UsesNoColourIfDisabled) {
  for (const std::string requested : {"", "NO_COLOR=1", "--no-color"}) {
    const bool flag = requested.starts_with("--");
    start({"chat", "--new", flag ? requested : "-q"}, "0", {flag ? "" : requested});
    await("Reprise");
    type("\x04");
    EXPECT_EQ(end(), 0);
    EXPECT_EQ(screen().find("\x1b[36m") != std::string::npos, requested.empty()) << requested;
  }
}

TEST_F(AppTerminalTest, ReportsAnEmptyPicker) {
  start({"resume"});
  await("No previous conversations found.");
  EXPECT_EQ(end(), 0);
  EXPECT_EQ(printed("list --json"), "[]\n");
}

// The partial answer of a dead process becomes a message in the trash.
TEST_F(AppTerminalTest, StoresPartialAnswersBeforeDeleting) {
  const auto store = *open_store(cat("sqlite:", (home() / "s.db").string()));
  Owner dead = this_process();
  dead.started += 1;
  for (const std::string number : {"1", "2"}) {
    const SessionId id = *SessionId::parse(cat("00000000-0000-4000-8000-00000000000", number));
    const OperationId answer = *OperationId::parse(cat("answer-", number));
    ASSERT_TRUE(store->create({.info = {.id = id, .title = cat("words-", number)}}));
    ASSERT_TRUE(store->append(id,
                              {{.role = std::string(role::kUser), .blocks = {TextBlock{"hi", {}}}}},
                              {.begin_partial = PartialStart{answer, dead, "p", "m", Time{}}}));
    const std::vector<Block> half = {TextBlock{"half", {}}};
    ASSERT_TRUE(store->capabilities().partials->add_partial(id, answer, half));
  }
  start({"--store", "sqlite:s.db", "resume", "--all"});
  await("filter");
  await("words-");
  type("\x1b[3~");
  await("restores");
  type("\x1b[3~");
  await("conversations");
  type("\x1b");
  EXPECT_EQ(end(), 0);
  const auto trashed = store->list({.states = {SessionState::trashed}});
  ASSERT_TRUE(trashed) << trashed.error().message;
  ASSERT_EQ(trashed->sessions.size(), 2U);
  for (const SessionInfo& info : trashed->sessions) {
    EXPECT_FALSE(info.answering) << info.title;
    EXPECT_EQ(info.head, Seq{2}) << info.title;
  }
}

}  // namespace
}  // namespace reprise::cli::app
