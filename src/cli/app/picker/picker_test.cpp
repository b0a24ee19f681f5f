#include <gtest/gtest.h>

#include "base/text.h"
#include "cli/app/testing/state.h"
#include "cli/app/update.h"

namespace reprise::cli::app {
namespace {

PickerRow row(int number, std::string title, std::string folder = "/home/ann/reprise") {
  PickerRow out;
  out.id = "id-" + std::to_string(number);
  out.words = title + " " + folder;
  out.title = std::move(title);
  out.folder = std::move(folder);
  out.messages = number;
  out.updated = Time(std::chrono::hours(24 * 365 * 50) - std::chrono::minutes(number));
  out.activity = out.updated;
  out.created = Time(std::chrono::hours(number));
  return out;
}

std::vector<PickerRow> some_rows() {
  return {row(1, "birds that swim"), row(2, "sourdough bread"), row(3, "sqlite wal mode"),
          row(4, "mana bases", "/home/ann/cards")};
}

template <class EffectType>
EffectType first_of(const Effects& effects) {
  for (const Effect& effect : effects) {
    if (const auto* const found = std::get_if<EffectType>(&effect)) {
      return *found;
    }
  }
  return {};
}

// `reprise resume` with one page of four sessions.
State picking(Size size = kUsual) {
  State state = empty_state(size);
  begin(state, {.pick = true, .all_folders = true});
  update(state, PageLoaded{.generation = 1, .rows = some_rows(), .next = ""});
  return state;
}

TEST(Picker, FillsTheFirstScreenFromOnePage) {
  State state = empty_state();
  const auto requested = only<LoadPage>(begin(state, {.pick = true}));
  EXPECT_EQ(requested.limit, kFirstPage);
  EXPECT_FALSE(requested.all_folders);
  std::vector<PickerRow> rows;
  for (int i = 0; i < static_cast<int>(kFirstPage); ++i) {
    rows.push_back(row(i, "t" + std::to_string(i)));
  }
  const Effects effects = update(state, PageLoaded{.generation = 1, .rows = rows, .next = "more"});
  EXPECT_EQ(only<LoadPreview>(effects).id, "id-0");  // no further page is requested
  EXPECT_NE(shown(state).find(" 60+ sessions"), std::string::npos);
  EXPECT_EQ(first_of<LoadPage>(key(state, "End")).after, "more");
}

TEST(Picker, LoadsEverythingForAFilter) {
  State state = empty_state();
  begin(state, {.pick = true});
  std::vector<PickerRow> rows(2 * kFirstPage, row(7, "nothing"));
  rows.push_back(row(4, "mana bases"));
  update(state, PageLoaded{.generation = 1, .rows = rows, .next = "two"});
  const auto requested = first_of<LoadPage>(type(state, "mana"));
  EXPECT_EQ(requested.after, "two");
  EXPECT_EQ(requested.limit, kNextPage);
  const Effects effects =
      update(state, PageLoaded{.generation = 1, .rows = {row(9, "mana again")}, .next = "three"});
  EXPECT_EQ(first_of<LoadPage>(effects).after, "three");
  EXPECT_EQ(state.picker->visible.size(), 2U);
}

TEST(Picker, FiltersAsTheUserTypes) {
  State state = picking();
  type(state, "sq");
  ASSERT_NE(state.picker->row(), nullptr);
  EXPECT_EQ(state.picker->row()->id, "id-3");
  key(state, "Backspace");
  key(state, "Backspace");
  EXPECT_EQ(state.picker->visible.size(), 4U);
  type(state, "cards");
  EXPECT_EQ(state.picker->row()->id, "id-4");
  type(state, "zzz");
  EXPECT_EQ(state.picker->row(), nullptr);
  EXPECT_NE(shown(state).find("nothing matches"), std::string::npos);
  EXPECT_TRUE(key(state, "Enter").empty());
}

TEST(Picker, FindsTheFirstQuestionUnderAnyTitle) {
  State state = empty_state();
  begin(state, {.pick = true});
  update(state,
         PageLoaded{.generation = 1, .rows = {row(1, "birds"), row(2, "Evening")}, .next = ""});
  const auto requested = first_of<LoadQuestions>(type(state, "sour"));
  EXPECT_EQ(requested.ids, (std::vector<std::string>{row(1, "").id, row(2, "").id}));
  EXPECT_EQ(state.picker->visible.size(), 0U);
  update(state, QuestionsLoaded{.generation = 1,
                                .questions = {"Can they swim?", "Why is the Sourdough flat?"}});
  ASSERT_NE(state.picker->row(), nullptr);
  EXPECT_EQ(state.picker->row()->title, "Evening");
  rename(state.picker->rows[1], "Bread");
  refilter(*state.picker, true);
  ASSERT_NE(state.picker->row(), nullptr) << "the question is still known";
  EXPECT_EQ(state.picker->row()->words, "bread /home/ann/reprise why is the sourdough flat?");
}

TEST(Picker, ResumesTheSelectedSession) {
  State state = picking();
  key(state, "Down");
  EXPECT_EQ(only<OpenSession>(key(state, "Enter")).sel, "id-2");
  EXPECT_FALSE(state.picker);
}

TEST(Picker, ClosesWithEscOrQ) {
  for (const bool escape : {true, false}) {
    State state = picking();
    const Effects effects = escape ? key(state, "Esc") : type(state, "q");
    EXPECT_TRUE(std::holds_alternative<CloseAll>(effects.front()));
  }
  State state = open_state();
  key(state, "Ctrl-O");
  ASSERT_TRUE(state.picker);
  EXPECT_TRUE(key(state, "Esc").empty());
  EXPECT_FALSE(state.leaving);
}

TEST(Picker, ListsAllFoldersIfTheFolderHasNone) {
  State state = empty_state();
  begin(state, {.pick = true});
  EXPECT_TRUE(only<LoadPage>(update(state, PageLoaded{.generation = 1, .rows = {}, .next = ""}))
                  .all_folders);
  update(state, PageLoaded{.generation = 2, .rows = {}, .next = ""});
  EXPECT_TRUE(state.nothing_saved);
  EXPECT_TRUE(state.leaving);
}

TEST(Picker, IgnoresPagesOfAnEarlierList) {
  State state = picking();
  key(state, "Tab");
  update(state, PageLoaded{.generation = 1, .rows = some_rows(), .next = ""});
  EXPECT_TRUE(state.picker->rows.empty());
}

TEST(Picker, StartsAnotherListAtTheTop) {
  State state = empty_state();
  begin(state, {.pick = true});
  update(state, PageLoaded{.generation = 1, .rows = some_rows(), .next = "place in the first"});
  const auto requested = first_of<LoadPage>(key(state, "Tab"));
  EXPECT_EQ(requested.limit, kFirstPage);
  EXPECT_EQ(requested.after, "");
}

TEST(Picker, LeavesAGapBesideThePreview) {
  State state = picking({24, 80});
  update(state, PreviewLoaded{"id-1", {std::string(200, 'q'), "answer", true, false}});
  const std::string columns(state.size.columns - 3, 'q');  // two columns precede it
  EXPECT_NE(shown(state).find(cat("\n  ", columns, "\n")), std::string::npos) << shown(state);
}

TEST(Picker, TrashesAndRestores) {
  State state = picking();
  EXPECT_EQ(only<TrashStored>(key(state, "Delete")).id, "id-1");
  EXPECT_EQ(state.picker->rows.size(), 4U);  // until the operation completes
  update(state, StoredChanged{StoredChanged::Change::trashed, "id-1"});
  EXPECT_EQ(state.picker->rows.size(), 3U);
  EXPECT_EQ(state.picker->row()->id, "id-2");
  EXPECT_EQ(only<RestoreStored>(type(state, "u")).id, "id-1");
  update(state, StoredChanged{StoredChanged::Change::restored, "id-1"});
  EXPECT_EQ(state.picker->rows.front().id, "id-1");
  EXPECT_TRUE(state.picker->trashed.empty());
}

TEST(Picker, ReportsWhyNothingWasChanged) {
  State state = picking();
  StoredChanged refused{StoredChanged::Change::trashed, "id-1"};
  refused.failure = "an answer is running";
  update(state, refused);
  EXPECT_EQ(state.picker->rows.size(), 4U);
  EXPECT_NE(shown(state).find("an answer is running"), std::string::npos);
}

TEST(Picker, Renames) {
  State state = picking();
  key(state, "F2");
  key(state, "Ctrl-U");
  type(state, "quite new");
  const auto requested = only<RenameStored>(key(state, "Enter"));
  EXPECT_EQ(requested.id, "id-1");
  EXPECT_EQ(requested.title, "quite new");
  update(state, StoredChanged{StoredChanged::Change::renamed, "id-1", "quite new"});
  EXPECT_EQ(state.picker->row()->title, "quite new");
  key(state, "F2");
  EXPECT_TRUE(key(state, "Esc").empty());
  EXPECT_TRUE(state.picker);
}

TEST(Picker, CancelsARename) {
  for (const char* const leave : {"Esc", "Ctrl-C"}) {
    State state = picking();
    key(state, "F2");
    type(state, "quite new");
    EXPECT_TRUE(key(state, leave).empty());
    ASSERT_TRUE(state.picker) << leave;
    EXPECT_FALSE(state.picker->new_title) << leave;
    EXPECT_EQ(shown(state).find("quite new"), std::string::npos) << leave;
  }
}

TEST(Picker, ShowsTheCursor) {
  State state = picking({10, 40});
  type(state, std::string(60, 'x') + "日本");
  EXPECT_NE(shown(state).find("\n› " + std::string(33, 'x') + "日本\n"), std::string::npos)
      << shown(state);
  EXPECT_EQ(render(state).cursor(), (ScreenPosition{1, 39}));
  key(state, "Ctrl-A");
  EXPECT_NE(shown(state).find("\n› " + std::string(38, 'x') + "\n"), std::string::npos);
  EXPECT_EQ(render(state).cursor(), (ScreenPosition{1, 2}));
}

TEST(Picker, OrdersByCreation) {
  State state = picking();
  key(state, "Ctrl-S");
  EXPECT_EQ(state.picker->row()->id, "id-4");
  EXPECT_NE(shown(state).find("by creation"), std::string::npos);
}

TEST(Picker, SwitchesToOpenSessionsAndOpensOthersInTabs) {
  State state = open_state();
  state.tabs[0].metadata.id = "id-2";
  key(state, "Ctrl-O");
  update(state, PageLoaded{.generation = 1, .rows = some_rows(), .next = ""});
  EXPECT_TRUE(key(state, "Delete").size() == 1);
  key(state, "Down");
  key(state, "Delete");
  EXPECT_NE(shown(state).find("That session is open in a tab."), std::string::npos);
  EXPECT_TRUE(key(state, "Enter").empty());
  EXPECT_FALSE(state.picker);
  EXPECT_EQ(state.current, 0U);
  // Another picker for the same folder.
  key(state, "Ctrl-O");
  update(state, PageLoaded{.generation = 2, .rows = some_rows(), .next = ""});
  ASSERT_EQ(state.picker->row()->folder, state.tabs[0].metadata.folder);
  EXPECT_EQ(only<OpenSession>(key(state, "Enter")).tab, TabId{2});
  EXPECT_EQ(state.current, 1U);
}

TEST(Picker, ShowsThePreview) {
  State state = picking();
  update(state, PreviewLoaded{"id-1", {"Which birds swim?", "Penguins, for one.", true}});
  EXPECT_NE(shown(state).find("  Which birds swim?\n  Penguins, for one.\n  (interrupted)\n"),
            std::string::npos);
  state.size = {50, 200};
  EXPECT_NE(shown(state).find("│ Which birds swim?"), std::string::npos);
  update(state, PreviewLoaded{"id-1", {"Which birds swim?", "", true, true}});
  EXPECT_NE(shown(state).find("│ (an answer is running)"), std::string::npos);
  EXPECT_EQ(shown(state).find("answer was cut"), std::string::npos);
}

TEST(Picker, FitsAnySizeAndSanitizesText) {
  const std::string bad = "日\x1b]0;owned\x07\u202e\xff";
  for (std::size_t height = 1; height <= 20; ++height) {
    for (const std::size_t columns : {1U, 2U, 9U, 30U, 75U, 120U}) {
      State state = empty_state({height, columns});
      begin(state, {.pick = true});
      update(state,
             PageLoaded{.generation = 1, .rows = {row(1, bad, bad), row(2, bad, bad)}, .next = ""});
      update(state, PreviewLoaded{"id-1", {bad, bad, false}});
      state.picker->note = bad;
      const std::string text = shown(state);
      EXPECT_EQ(text.find_first_of("\x1b\x07"), std::string::npos);
      EXPECT_EQ(text.find("\u202e"), std::string::npos);
    }
  }
}

TEST(Picker, HandlesAHundredThousandSessions) {
  State state = empty_state();
  begin(state, {.pick = true});
  for (int page = 0; page < 100; ++page) {
    std::vector<PickerRow> rows;
    rows.reserve(1000);
    for (int i = 0; i < 1000; ++i) {
      rows.push_back(row(page * 1000 + i, "session about topic " + std::to_string(i)));
    }
    update(state,
           PageLoaded{.generation = 1, .rows = std::move(rows), .next = page == 99 ? "" : "x"});
  }
  type(state, "topic 77");
  EXPECT_GE(state.picker->matches, 100U);
  EXPECT_LE(state.picker->visible.size(), kMatchesAtFirst);
}

}  // namespace
}  // namespace reprise::cli::app
