// Tests of "/resume", its output, and the picker of a tab.

#include <gtest/gtest.h>

#include "base/text.h"
#include "cli/app/testing/state.h"
#include "cli/app/update.h"

namespace reprise::cli::app {
namespace {

TEST(Resume, ParsesItsArguments) {
  State state = open_state();
  EXPECT_EQ(only<ListResumable>(enter(state, "/resume list")).tab, TabId{1});
  EXPECT_EQ(only<DeleteStored>(enter(state, "/resume delete 2")).sel, "2");
  EXPECT_EQ(only<CountClosed>(enter(state, "/resume clear")).tab, TabId{1});
  const auto opened = only<OpenSession>(enter(state, "/resume 1"));
  EXPECT_EQ(opened.sel, "1");
  EXPECT_TRUE(opened.of_list);
  EXPECT_EQ(state.current, 1U);
  update(state, TabFailed{opened.tab, "no session matches '1'"});
  EXPECT_EQ(state.current, 0U);
  EXPECT_EQ(state.tab()->entries.back().text, "no session matches '1'");
  EXPECT_EQ(only<ListResumable>(enter(state, "/resume")).tab, TabId{1});
}

State offering_state() {
  State state = empty_state();
  update(state, NewestFound{some_session()});
  return state;
}

Effects wait(State& state, std::chrono::milliseconds pause) {
  return update(state, Ticked{state.now + pause});
}

TEST(Resume, TakesALetterForAnAnswerAfterAPause) {
  using std::chrono::milliseconds;
  State state = offering_state();
  EXPECT_TRUE(type(state, "y").empty());
  EXPECT_TRUE(wait(state, milliseconds(900)).empty());
  EXPECT_EQ(only<OpenSession>(wait(state, milliseconds(100))).sel, some_session().id.str());
  EXPECT_EQ(state.input().text(), "");

  State other = offering_state();
  EXPECT_TRUE(type(other, "N").empty());
  EXPECT_EQ(only<OpenNew>(key(other, "Enter")).tab, TabId{1});
  EXPECT_EQ(other.input().text(), "");
}

TEST(Resume, SendsAMessageTypedAtTheOfferToANewSession) {
  using std::chrono::milliseconds;
  for (const std::vector<std::string>& texts :
       {std::vector<std::string>{"N", "otes"}, {"y", "es, please"}, {"now what"}, {"hello"}}) {
    State state = offering_state();
    std::string message;
    for (const std::string& text : texts) {
      EXPECT_TRUE(type(state, text).empty());
      message += text;
    }
    EXPECT_TRUE(wait(state, milliseconds(5000)).empty());
    EXPECT_EQ(only<OpenNew>(key(state, "Enter")).tab, TabId{1});
    const auto asked = only<Ask>(update(state, TabOpened{TabId{1}, some_metadata(), {}, {}, {}}));
    EXPECT_EQ(asked.text, message);
  }
}

TEST(Resume, KeepsAMessageTypedBeforeTheOfferIsDeclined) {
  State state = offering_state();
  EXPECT_TRUE(type(state, "Why").empty());
  EXPECT_TRUE(type(state, " not").empty());
  EXPECT_TRUE(update(state, Pasted{" yet?!"}).empty());
  EXPECT_TRUE(key(state, "Backspace").empty());
  const Screen screen = render(state);
  EXPECT_NE(screen.text().find("\n› Why not yet?"), std::string::npos);
  EXPECT_EQ(screen.cursor(), (ScreenPosition{22, 14}));
  EXPECT_EQ(only<OpenNew>(key(state, "Esc")).tab, TabId{1});
  EXPECT_EQ(state.status, "");
  EXPECT_EQ(state.input().text(), "Why not yet?");
}

TEST(Resume, AsksBeforeItClears) {
  State state = open_state();
  update(state, ClearRequest{});
  EXPECT_EQ(state.tab()->entries.back().text, "No saved sessions to clear.");
  update(state, ClearRequest{3});
  EXPECT_TRUE(type(state, "n").empty());
  update(state, ClearRequest{3});
  EXPECT_EQ(only<ClearClosed>(type(state, "y")).tab, TabId{1});
}

TEST(Announcement, IsKeptUntilThereIsATab) {
  State state = empty_state();
  EXPECT_EQ(only<ListResumable>(enter(state, "/resume list")).tab, TabId{});
  update(state, Announcement{Announcement::Kind::notice, TabId{}, "No sessions to resume."});
  update(state, NewestFound{});
  update(state, TabOpened{state.tabs.front().id, some_metadata(), {}, {}, {}});
  EXPECT_NE(shown(state).find("No sessions to resume."), std::string::npos);
  update(state, Announcement{Announcement::Kind::notice, TabId{}, "Late answer."});
  EXPECT_NE(shown(state).find("Late answer."), std::string::npos);
}

TEST(Picker, ListsTheProjectOfTheTab) {
  State state = open_state();
  state.tab()->metadata.folder = "/p/other";
  const auto requested = only<LoadPage>(key(state, "Ctrl-O"));
  EXPECT_FALSE(requested.all_folders);
  EXPECT_EQ(requested.folder, "/p/other");
}

TEST(Resume, ShowsALongListFromItsStart) {
  State state = open_state({24, 80});
  std::string list;
  for (int i = 1; i <= 40; ++i) {
    list += cat(i, ". session\n");
  }
  const Announcement listed{Announcement::Kind::notice, TabId{1}, list};
  update(state, listed);
  EXPECT_NE(shown(state).find(" 1. session"), std::string::npos) << shown(state);
  key(state, "Ctrl-End");
  enter(state, "question");
  update(state, listed);
  EXPECT_EQ(shown(state).find(" 1. session"), std::string::npos);  // the answer remains visible
}

}  // namespace
}  // namespace reprise::cli::app
