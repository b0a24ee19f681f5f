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

TEST(Resume, ShowsASessionThatNobodyContinuesReadOnly) {
  State state = empty_state();
  begin(state, {.sel = "1"});
  EXPECT_TRUE(enter(state, "typed too early").empty());
  TabMetadata metadata = some_metadata("/home/ann/reprise", "Begun elsewhere");
  metadata.refusal = "no key for it; /provider helps";
  EXPECT_TRUE(
      update(state,
             TabOpened{{1}, metadata, {{.kind = Entry::Kind::answer, .text = "Yes."}}, {}, {}})
          .empty());
  EXPECT_EQ(state.input().text(), "typed too early");
  EXPECT_EQ(state.tab()->entries.back().text, metadata.refusal);
  EXPECT_NE(shown(state).find("Yes."), std::string::npos);
  EXPECT_NE(shown(state).find("read-only · F1"), std::string::npos);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(key(state, "Enter").empty());
    EXPECT_EQ(state.input().text(), "typed too early");
    EXPECT_EQ(state.tabs.size(), 1U);
    EXPECT_EQ(state.tab()->entries.back().text, cat("not sent: ", metadata.refusal));
    EXPECT_EQ(state.tab()->entries.size(), 3U) << "it is said once";
  }
  for (const std::string_view command : {"/retry", "/go-on", "/rewind 1", "/fork", "/system x"}) {
    key(state, "Ctrl-U");
    EXPECT_TRUE(enter(state, command).empty()) << command;
    EXPECT_EQ(state.tab()->entries.back().text,
              cat("this session is read-only: ", metadata.refusal));
  }
  EXPECT_EQ(only<RunSlash>(enter(state, "/title x")).slash.verb, SlashVerb::title);
  EXPECT_EQ(only<RunSlash>(enter(state, "/model x")).slash.verb, SlashVerb::model);
  EXPECT_EQ(only<RunSlash>(enter(state, "/provider echo")).slash.text, "echo");
  update(state, TabChanged{.tab = {1}, .metadata = some_metadata()});
  EXPECT_EQ(shown(state).find("read-only · F1"), std::string::npos);
  EXPECT_EQ(only<Ask>(enter(state, "goes on")).text, "goes on");
}

TEST(Resume, SendsNothingElsewhereIfTheSessionCannotBeOpened) {
  State state = empty_state();
  begin(state, {.sel = "1"});
  enter(state, "one");
  enter(state, "two");
  update(state, TabFailed{.tab = {1}, .reason = "it is archived", .is_stored = true});
  EXPECT_EQ(state.notice, "it is archived");
  EXPECT_EQ(state.input().text(), "one\ntwo");
  EXPECT_TRUE(key(state, "Enter").empty());
  EXPECT_TRUE(state.tabs.empty());
  EXPECT_EQ(state.notice, "not sent: /resume chooses another session, /new starts one");
  EXPECT_EQ(state.input().text(), "one\ntwo");
  key(state, "Ctrl-U");
  key(state, "Backspace");
  key(state, "Ctrl-U");
  EXPECT_EQ(only<OpenNew>(enter(state, "/new")).tab, TabId{2});
  update(state, TabOpened{{2}, some_metadata(), {}, {}, {}});
  EXPECT_EQ(only<Ask>(enter(state, "three")).text, "three");
}

}  // namespace
}  // namespace reprise::cli::app
