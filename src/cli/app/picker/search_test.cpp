// Tests of searches and the external editor.

#include <gtest/gtest.h>

#include "cli/app/testing/state.h"
#include "cli/app/update.h"

namespace reprise::cli::app {
namespace {

TEST(HistorySearch, FindsEarlierMessages) {
  State state = open_state();
  for (const char* prompt : {"make bread", "bake BREAD again", "other"}) {
    state.tabs[0].input.remember(prompt);
  }
  type(state, "draft");
  key(state, "Ctrl-R");
  type(state, "brea");
  EXPECT_EQ(state.input().text(), "bake BREAD again");
  EXPECT_NE(shown(state).find("earlier messages: brea"), std::string::npos);
  key(state, "Ctrl-R");
  EXPECT_EQ(state.input().text(), "make bread");
  key(state, "Ctrl-R");
  EXPECT_EQ(state.input().text(), "make bread");
  EXPECT_NE(shown(state).find(" no earlier messages: brea"), std::string::npos);
  key(state, "Esc");
  EXPECT_EQ(state.input().text(), "draft");

  key(state, "Ctrl-R");
  type(state, "oth");
  EXPECT_TRUE(key(state, "Enter").empty());  // accepts it without sending
  EXPECT_EQ(only<Ask>(key(state, "Enter")).text, "other");
}

TEST(HistorySearch, OtherKeysEndTheSearch) {
  State state = open_state();
  state.tabs[0].input.remember("find me");
  key(state, "Ctrl-R");
  type(state, "find");
  key(state, "Ctrl-A");
  type(state, "now ");
  EXPECT_EQ(state.input().text(), "now find me");
}

State long_conversation() {
  State state = open_state();
  for (int i = 0; i < 100; ++i) {
    state.tabs[0].entries.push_back(
        {.text = (i % 30 == 10 ? "a Needle number " : "hay ") + std::to_string(i)});
  }
  return state;
}

TEST(TranscriptSearch, SearchesUpwardsRepeatedly) {
  State state = long_conversation();
  key(state, "PgUp");
  key(state, "Ctrl-F");
  type(state, "needle");
  EXPECT_NE(shown(state).find(" /needle"), std::string::npos);
  key(state, "Enter");
  EXPECT_NE(shown(state).find("a Needle number 70"), std::string::npos);
  type(state, "n");
  EXPECT_NE(shown(state).find("a Needle number 40"), std::string::npos);
  type(state, "n");
  EXPECT_NE(shown(state).find("a Needle number 10"), std::string::npos);
  type(state, "n");
  EXPECT_NE(shown(state).find("not found"), std::string::npos);
  type(state, "N");
  EXPECT_NE(shown(state).find("a Needle number 40"), std::string::npos);
  key(state, "Esc");
  type(state, "n");
  EXPECT_EQ(state.input().text(), "n");
}

// Simulates the worker: loads older entries, one of which contains the words.
void load_older(State& state, std::int64_t oldest, const std::string& words) {
  std::vector<Entry> entries(20, Entry{.text = "older hay"});
  entries[10].text = words;
  update(state, OlderLoaded{state.tabs[0].id, std::move(entries), Seq{oldest}});
}

TEST(TranscriptSearch, ContinuesInMessagesNotYetLoaded) {
  State state = long_conversation();
  state.tabs[0].oldest = Seq{5000};
  key(state, "PgUp");
  key(state, "Ctrl-F");
  type(state, "treasure");
  const auto first = only<LoadOlder>(key(state, "Enter"));
  EXPECT_EQ(first.before, Seq{5000});
  EXPECT_EQ(first.count, kMessagesToSearch);
  EXPECT_NE(shown(state).find("searching 5,000 older messages"), std::string::npos);
  update(state, OlderLoaded{{1}, {Entry{.text = "nothing"}}, Seq{3000}});
  EXPECT_NE(shown(state).find("searching 3,000 older messages"), std::string::npos);
  load_older(state, 1000, "the Treasure itself");
  EXPECT_NE(shown(state).find("the Treasure itself"), std::string::npos);
  EXPECT_EQ(only<LoadOlder>(type(state, "n")).before, Seq{1000});
  load_older(state, 0, "hay");
  EXPECT_NE(shown(state).find("not found"), std::string::npos);
}

TEST(TranscriptSearch, IsCancelledByAKey) {
  State state = long_conversation();
  state.tabs[0].oldest = Seq{5000};
  key(state, "PgUp");
  key(state, "Ctrl-F");
  type(state, "treasure");
  key(state, "Enter");
  key(state, "Esc");
  load_older(state, 3000, "the Treasure itself");
  EXPECT_EQ(shown(state).find("the Treasure itself"), std::string::npos);
}

TEST(TranscriptSearch, EndsIfOlderMessagesCannotBeRead) {
  State state = long_conversation();
  state.tabs[0].oldest = Seq{5000};
  key(state, "PgUp");
  key(state, "Ctrl-F");
  type(state, "treasure");
  key(state, "Enter");
  EXPECT_TRUE(update(state, OlderLoaded{{1}, {}, Seq{5000}}).empty());
  EXPECT_NE(shown(state).find("older messages cannot be read"), std::string::npos);
}

TEST(TranscriptSearch, UnfoldsEntriesWithHiddenMatches) {
  State state = long_conversation();
  auto& entries = state.tabs[0].entries;
  entries[50] = {.kind = Entry::Kind::tool,
                 .text = "read_file",
                 .input = "{}",
                 .result = "one\ntwo\nthe treasure\nfour"};
  entries[20] = {.kind = Entry::Kind::question,
                 .text = std::string(kEntryBytesAtFirst, 'x') + " buried treasure"};
  key(state, "PgUp");
  key(state, "Ctrl-F");
  type(state, "treasure");
  key(state, "Enter");
  EXPECT_NE(shown(state).find("    the treasure\n"), std::string::npos) << shown(state);
  type(state, "n");
  EXPECT_EQ(state.tabs[0].found->entry, 20U);
  EXPECT_NE(shown(state).find("treasure\n"), std::string::npos);
  type(state, "N");
  EXPECT_NE(shown(state).find("    the treasure\n"), std::string::npos);
}

TEST(Transcript, ScrollsThroughALongEntry) {
  State state = open_state();
  enter(state, "question");
  update(state, TextReceived{{1}, std::string(1 << 20, 'y') + " the-end"});
  update(state, TurnEnded{.tab = {1}, .metadata = state.tabs[0].metadata});
  EXPECT_NE(shown(state).find("… 769 KiB more: PgDn"), std::string::npos) << shown(state);
  key(state, "PgDn");
  EXPECT_EQ(shown(state).find("… 769 KiB more: PgDn"), std::string::npos);
  EXPECT_NE(shown(state).find("more below"), std::string::npos);
  key(state, "Ctrl-End");
  EXPECT_NE(shown(state).find("… 1 KiB more: PgDn"), std::string::npos) << shown(state);
  key(state, "PgDn");
  EXPECT_NE(shown(state).find("the-end"), std::string::npos) << shown(state);
}

TEST(TranscriptSearch, HighlightsMatches) {
  State state = long_conversation();
  key(state, "PgUp");
  key(state, "Ctrl-F");
  type(state, "needle 70");
  key(state, "Enter");
  key(state, "Ctrl-F");
  type(state, "number");
  key(state, "Enter");
  const Screen screen = render(state);
  bool marked = false;
  for (std::size_t row = 0; row < 24; ++row) {
    marked = marked || (screen.at({row, 11}).text == "n" && screen.at({row, 11}).style.reverse);
  }
  EXPECT_TRUE(marked);
}

TEST(TranscriptSearch, FindsWhatTheWindowBreaks) {
  State state = long_conversation();
  const std::string words = std::string(70, 'w') + " gilded treasure of " + std::string(170, 'l');
  state.tabs[0].entries[30].text = words;
  for (const std::string& pattern :
       {std::string("gilded treasure"), std::string("treasure of"), std::string(100, 'l')}) {
    key(state, "PgUp");
    key(state, "Ctrl-F");
    key(state, "Ctrl-U");
    type(state, pattern);
    key(state, "Enter");
    ASSERT_TRUE(state.tabs[0].found) << pattern;
    EXPECT_EQ(state.tabs[0].found->entry, 30U) << pattern;
    key(state, "Esc");
  }
}

TEST(TranscriptSearch, IgnoresCaseInEveryScript) {
  State state = long_conversation();
  state.tabs[0].entries[30].text = "die Übergabe";
  state.tabs[0].entries[20].text = "ПРИВЕТ";
  for (const auto& [pattern, entry] : {std::pair("übergabe", 30U), std::pair("Привет", 20U)}) {
    key(state, "PgUp");
    key(state, "Ctrl-F");
    type(state, pattern);
    key(state, "Enter");
    ASSERT_TRUE(state.tabs[0].found) << pattern;
    EXPECT_EQ(state.tabs[0].found->entry, entry);
    key(state, "Esc");
  }
}

TEST(TranscriptSearch, IgnoresItsKeysAtTheEndOrAfterHelp) {
  State state = long_conversation();
  type(state, "/title x");
  EXPECT_EQ(state.input().text(), "/title x");
  key(state, "Ctrl-U");
  key(state, "F1");
  type(state, "/title x");
  EXPECT_EQ(state.input().text(), "/title x");
}

TEST(OpenEditor, NeedsTwoKeys) {
  State state = open_state();
  type(state, "draft");
  EXPECT_TRUE(key(state, "Ctrl-X").empty());
  EXPECT_EQ(only<OpenEditor>(key(state, "Ctrl-E")).text, "draft");
  update(state, Edited{.tab = {1}, .text = "better\ndraft"});
  EXPECT_EQ(state.input().text(), "better\ndraft");
  update(state, Edited{.tab = {1}, .text = std::nullopt, .failure = "the editor failed"});
  EXPECT_EQ(state.input().text(), "better\ndraft");
  EXPECT_NE(shown(state).find("the editor failed"), std::string::npos);
}

TEST(OpenEditor, UpdatesATabOpenedMeanwhile) {
  State state = empty_state();
  type(state, "draft");
  key(state, "Ctrl-X");
  const TabId tab = only<OpenEditor>(key(state, "Ctrl-E")).tab;
  update(state, NewestFound{});
  update(state, Edited{.tab = tab, .text = "edited"});
  EXPECT_EQ(state.input().text(), "edited");
}

TEST(Todos, AreBelowTheTranscriptOrBesideIt) {
  State state = open_state();
  std::vector<Todo> todos(3);
  todos[0].content = "read the file";
  todos[0].status = TodoStatus::completed;
  todos[1].content = "mend it";
  todos[1].active_form = "mending it";
  todos[1].status = TodoStatus::in_progress;
  todos[2].content = "test\x1b[2J it";
  update(state, TodosChanged{{1}, todos});
  EXPECT_NE(shown(state).find("  Todos 1/3\n  [x] read the file\n  [~] mending it\n"
                              "  [ ] test␛[2J it\n──"),
            std::string::npos)
      << shown(state);
  state.size = {50, 200};
  EXPECT_NE(shown(state).find("│ Todos 1/3\n"), std::string::npos) << shown(state);
  state.size = {10, 40};
  EXPECT_NE(shown(state).find("  Todos 1/3\n  [~] mending it\n"), std::string::npos)
      << shown(state);
  key(state, "F3");
  EXPECT_EQ(shown(state).find("Todos"), std::string::npos);
}

TEST(Todos, KeepTheCurrentOneVisible) {
  State state = open_state();
  std::vector<Todo> todos(40);
  for (std::size_t i = 0; i < todos.size(); ++i) {
    todos[i].content = "step " + std::to_string(i);
    todos[i].status = i < 20 ? TodoStatus::completed : TodoStatus::pending;
  }
  update(state, TodosChanged{{1}, todos});
  EXPECT_NE(shown(state).find("[x] step 19\n  [ ] step 20\n"), std::string::npos) << shown(state);
}

}  // namespace
}  // namespace reprise::cli::app
