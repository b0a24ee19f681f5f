// Tests of long pastes and attached files.

#include <gtest/gtest.h>

#include "base/text.h"
#include "cli/app/testing/state.h"
#include "cli/app/update.h"

namespace reprise::cli::app {
namespace {

using Paths = std::vector<std::string>;

std::string lines(int count) {
  std::string out;
  for (int i = 1; i <= count; ++i) {
    out += cat("line ", i, "\n");
  }
  return out;
}

TEST(Paste, IsFoldedAndSentCompletely) {
  State state = open_state();
  type(state, "see ");
  update(state, Pasted{lines(5000)});
  type(state, " and this");
  EXPECT_NE(shown(state).find("› see [pasted 5,000 lines] and this"), std::string::npos)
      << shown(state);
  EXPECT_EQ(only<Ask>(key(state, "Enter")).text, cat("see ", lines(5000), " and this"));
  EXPECT_TRUE(state.input().empty());
}

TEST(Paste, ShowsShortPastes) {
  State state = open_state();
  update(state, Pasted{lines(9)});
  EXPECT_NE(shown(state).find("line 9"), std::string::npos);
}

TEST(Paste, IsEditedAsOneCharacter) {
  State state = open_state();
  update(state, Pasted{lines(11)});
  type(state, "-");
  update(state, Pasted{lines(12)});
  key(state, "Left");
  key(state, "Left");
  key(state, "Backspace");
  EXPECT_EQ(state.input().unfolded_text(), cat("-", lines(12)));
  key(state, "Ctrl-K");
  EXPECT_TRUE(state.input().empty());
  key(state, "Ctrl-Y");
  EXPECT_EQ(state.input().unfolded_text(), cat("-", lines(12)));
  // To an earlier message and back.
  state.input().clear();
  state.input().remember("older");
  update(state, Pasted{lines(11)});
  key(state, "Up");
  EXPECT_EQ(state.input().text(), "older");
  key(state, "Down");
  EXPECT_EQ(state.input().unfolded_text(), lines(11));
  EXPECT_EQ(state.input().pastes().size(), 1U);
}

// A mark in typed text or a message is not a paste.
TEST(Paste, IsNotFakedByAMark) {
  State state = open_state();
  type(state, "a\x1a");
  EXPECT_EQ(state.input().text().find(kPasteMark), std::string::npos);
  state.input().set(
      "a\x1a"
      "b");
  EXPECT_EQ(state.input().unfolded_text(), "ab");
}

TEST(Attach, ShowsFilesWithTheMessage) {
  State state = open_state();
  EXPECT_EQ(only<CheckFile>(enter(state, "/attach a picture.png")).file, "a picture.png");
  EXPECT_NE(shown(state).find("attached: a picture.png"), std::string::npos);
  update(state, Pasted{cat("@pasted ", lines(11))});
  const auto requested = only<Ask>(enter(state, "look at @src/a.cpp and ann@home @"));
  EXPECT_EQ(requested.attached.files, Paths{"a picture.png"});
  EXPECT_EQ(requested.attached.mentioned, Paths{"src/a.cpp"});
  EXPECT_EQ(shown(state).find("attached:"), std::string::npos);
  // A message that waits for the running answer keeps its files.
  enter(state, "/attach b.png");
  EXPECT_TRUE(enter(state, "next").empty());
  const auto next = only<Ask>(update(state, TurnEnded{.tab = {1}, .metadata = some_metadata()}));
  EXPECT_EQ(next.attached.files, Paths{"b.png"});
  enter(state, "/attach c.png");
  enter(state, "/attach -");
  EXPECT_TRUE(state.tab()->attached.empty());
}

TEST(Attach, RefusesAFileAtOnce) {
  State state = open_state();
  enter(state, "/attach nofile");
  enter(state, "/attach a b.txt");
  update(state, FileRefused{{1}, "nofile", "cannot open nofile: No such file or directory"});
  EXPECT_NE(shown(state).find("! cannot open nofile"), std::string::npos) << shown(state);
  EXPECT_EQ(state.tab()->attached, Paths{"a b.txt"});
}

TEST(Attach, ReturnsFilesWithAnUnsentMessage) {
  State state = open_state();
  enter(state, "/attach a b.txt");
  const auto asked = only<Ask>(enter(state, "look"));
  enter(state, "/attach c.txt");
  type(state, "more");
  update(state, TurnEnded{.tab = {1}, .metadata = some_metadata()});
  update(state, NotSent{{1}, asked.text, asked.attached.files});
  EXPECT_EQ(state.input().text(), "look\nmore");
  EXPECT_EQ(state.tab()->attached, (Paths{"a b.txt", "c.txt"}));
  EXPECT_EQ(only<Ask>(key(state, "Enter")).attached.files, (Paths{"a b.txt", "c.txt"}));
  enter(state, "/attach d.txt");
  enter(state, "next");
  update(state, TurnEnded{.tab = {1}, .metadata = some_metadata(), .failure = "no answer"});
  EXPECT_EQ(state.input().text(), "next");
  EXPECT_EQ(state.tab()->attached, Paths{"d.txt"});
}

TEST(Attach, AcceptsQuotedPathsWithBlanks) {
  State state = open_state();
  const auto requested =
      only<Ask>(enter(state, "see @\"my file.txt\", @\"b c\"and @d @\"\" @\"open"));
  EXPECT_EQ(requested.attached.mentioned, (Paths{"my file.txt", "b c", "d", "\"\"", "\"open"}));
}

TEST(Attach, CompletesPathsWithBlanksInQuotes) {
  State state = open_state();
  type(state, "see @my");
  EXPECT_EQ(only<ListFiles>(key(state, "Tab")).prefix, "my");
  update(state, FilesListed{{1}, "my", {"my file.txt", "my folder/"}});
  EXPECT_EQ(state.input().text(), "see @\"my f");
  type(state, "i");
  EXPECT_EQ(only<ListFiles>(key(state, "Tab")).prefix, "my fi");
  update(state, FilesListed{{1}, "my fi", {"my file.txt"}});
  EXPECT_EQ(state.input().text(), "see @\"my file.txt\"");
}

TEST(Attach, CompletesPaths) {
  State state = open_state();
  type(state, "see @sr");
  EXPECT_EQ(only<ListFiles>(key(state, "Tab")).prefix, "sr");
  update(state, FilesListed{{1}, "sr", {"src/"}});
  EXPECT_EQ(state.input().text(), "see @src/");
  EXPECT_EQ(only<ListFiles>(key(state, "Tab")).prefix, "src/");
  update(state, FilesListed{{1}, "src/", {"src/base/", "src/cli/"}});
  EXPECT_EQ(state.input().text(), "see @src/");
  EXPECT_NE(shown(state).find("src/base/  src/cli/"), std::string::npos);
  type(state, "c");
  update(state, FilesListed{{1}, "src/", {"src/base/"}});  // too late
  EXPECT_EQ(state.input().text(), "see @src/c");
  state.input().clear();
  type(state, "/attach a b");
  EXPECT_EQ(only<ListFiles>(key(state, "Tab")).prefix, "a b");
}

}  // namespace
}  // namespace reprise::cli::app
