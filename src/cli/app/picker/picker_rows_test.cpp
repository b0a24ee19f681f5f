// Tests of the picker's rows: matching, short ids, other tools' sessions.

#include <gtest/gtest.h>

#include <algorithm>

#include "cli/app/effect.h"
#include "cli/app/picker/picker.h"
#include "cli/app/state.h"
#include "cli/app/testing/state.h"
#include "cli/app/update.h"

namespace reprise::cli::app {
namespace {

TEST(Fuzzy, FindsEveryWordInAnyOrder) {
  EXPECT_TRUE(fuzzy_score("mana base advice for frf", "frf mana"));
  EXPECT_TRUE(fuzzy_score("mana base advice", "mbadv"));
  EXPECT_TRUE(fuzzy_score("anything", ""));
  EXPECT_TRUE(fuzzy_score("anything", "   "));
  EXPECT_FALSE(fuzzy_score("mana base", "mana x"));
  EXPECT_FALSE(fuzzy_score("", "a"));
  EXPECT_FALSE(fuzzy_score("abc", "ca"));
}

TEST(Fuzzy, PrefersWholeWordsAndTheirBeginnings) {
  EXPECT_GT(fuzzy_score("explain sqlite", "sql"), fuzzy_score("mysql dump", "sql"));
  EXPECT_GT(fuzzy_score("mysql dump", "sql"), fuzzy_score("some quick list", "sql"));
  EXPECT_GT(fuzzy_score("wal mode", "wm"), fuzzy_score("a swimmer", "wm"));
}

TEST(Fuzzy, PrefersLettersAtWordStartsOrAdjacent) {
  EXPECT_GT(fuzzy_score("read write mode", "rwm"), fuzzy_score("drew dawn home", "rwm"));
  EXPECT_GT(fuzzy_score("a b-c", "ac"), fuzzy_score("a bxc", "ac"));
  EXPECT_GT(fuzzy_score("a b c", "abc"), fuzzy_score("abxc", "abc"));
  EXPECT_GT(fuzzy_score("abxcd", "acd"), fuzzy_score("abxcxd", "acd"));
}

TEST(Fuzzy, AcceptsAnyBytes) {
  EXPECT_TRUE(fuzzy_score("日本語のタイトル", "タイトル"));
  EXPECT_TRUE(fuzzy_score("a\xff\x1b", "\xff"));
}

TEST(Picker, LengthensShortIdsThatAreEqual) {
  State state = empty_state();
  begin(state, {.pick = true, .all_folders = true});
  const auto row_of = [](std::string_view id) {
    return picker_row({.id = *SessionId::parse(id), .title = "t"}, "");
  };
  update(state, PageLoaded{.generation = 1,
                           .rows = {row_of("0190a6a0-0000-7000-8000-aabbccdd0001"),
                                    row_of("0190a6a0-0000-7000-8000-eeeeeeee0001")},
                           .next = "more"});
  update(state, PageLoaded{.generation = 1,
                           .rows = {row_of("0190a6a0-0000-7000-8000-aabbccdd0102")},
                           .next = ""});
  ASSERT_TRUE(state.picker);
  const auto& rows = state.picker->rows;
  EXPECT_EQ(rows[0].short_id, "aabbccdd00");
  EXPECT_EQ(rows[1].short_id, "eeeeeeee");
  EXPECT_EQ(rows[2].short_id, "aabbccdd01");
}

TEST(Picker, OrdersByActivityAndShowsTheSessionsTime) {
  const auto at = [](int hour) { return Time(std::chrono::hours(hour)); };
  const SessionInfo ahead{
      .id = *SessionId::parse("ahead"), .updated_at = at(9), .arrived_at = at(2)};
  const SessionInfo today{.id = *SessionId::parse("today"), .updated_at = at(3)};
  EXPECT_TRUE(is_newer(picker_row(today, ""), picker_row(ahead, "")));
  EXPECT_FALSE(is_newer(picker_row(ahead, ""), picker_row(today, "")));
  EXPECT_EQ(picker_row(ahead, "").updated, at(9));
}

// An accent may be a character of its own.
TEST(Picker, FindsTitlesInAnyForm) {
  SessionInfo info{.id = *SessionId::parse("s"), .title = "Cre\u0300me BR\u00DBL\u00C9E"};
  PickerRow row = picker_row(info, "");
  EXPECT_TRUE(row.words.starts_with("creme brulee ")) << row.words;
  rename(row, "\u00C9t\u00E9");
  EXPECT_TRUE(row.words.starts_with("ete  ")) << row.words;
}

PickerRow own_row() {
  PickerRow out;
  out.id = "id-1";
  out.title = "birds that swim";
  out.words = out.title;
  return out;
}

LoadPage page_of(const Effects& effects) {
  const auto found = std::ranges::find_if(
      effects, [](const Effect& effect) { return std::holds_alternative<LoadPage>(effect); });
  return found == effects.end() ? LoadPage{} : std::get<LoadPage>(*found);
}

TEST(PickerOthers, TabCyclesThroughTheScopes) {
  State state = empty_state();
  begin(state, {.pick = true});
  update(state, PageLoaded{.generation = 1, .rows = {own_row()}, .next = ""});
  EXPECT_TRUE(page_of(key(state, "Tab")).all_folders);
  const auto other_tools = page_of(key(state, "Tab"));
  EXPECT_TRUE(other_tools.other_tools);
  update(state, PageLoaded{.generation = other_tools.generation, .rows = {}, .next = ""});
  EXPECT_FALSE(state.leaving) << "the own sessions are still there";
  EXPECT_NE(shown(state).find("No other tool has sessions here."), std::string::npos);
  const auto back = page_of(key(state, "Tab"));
  EXPECT_FALSE(back.other_tools);
  EXPECT_FALSE(back.all_folders);
}

TEST(PickerOthers, ForeignSessionsAreReadOnly) {
  State state = empty_state();
  begin(state, {.pick = true, .all_folders = true});
  update(state, PageLoaded{.generation = 1, .rows = {own_row()}, .next = ""});
  const auto requested = page_of(key(state, "Tab"));
  EXPECT_TRUE(requested.other_tools);
  PickerRow other = own_row();
  other.id = "claude:" + other.id;
  update(state, PageLoaded{.generation = requested.generation, .rows = {other}, .next = ""});
  EXPECT_TRUE(key(state, "Delete").empty());
  key(state, "F2");
  EXPECT_FALSE(state.picker->new_title);
  EXPECT_EQ(only<OpenSession>(key(state, "Enter")).sel, "claude:id-1");
}

TEST(Picker, ListsTheBestMatchesAndMoreOnDemand) {
  State state = empty_state();
  begin(state, {.pick = true});
  std::vector<PickerRow> rows;
  for (int i = 0; i < 1234; ++i) {
    const std::string title = "topic " + std::to_string(i);
    PickerRow& row = rows.emplace_back();
    row.id = std::to_string(i);
    row.title = title;
    row.words = title;
    row.updated = Time(std::chrono::hours(24) - std::chrono::minutes(i));
    row.activity = row.updated;
    row.created = Time(std::chrono::hours(i));
  }
  update(state, PageLoaded{.generation = 1, .rows = std::move(rows), .next = ""});
  EXPECT_NE(shown(state).find(" 1,234 sessions"), std::string::npos);
  type(state, "topic");
  EXPECT_NE(shown(state).find(" best 500 of 1,234 "), std::string::npos) << shown(state);
  key(state, "End");
  EXPECT_EQ(state.picker->selected, 499U);
  key(state, "Down");
  EXPECT_EQ(state.picker->selected, 500U);
  EXPECT_NE(shown(state).find(" best 1,000 of 1,234 "), std::string::npos);
  key(state, "End");
  key(state, "End");
  EXPECT_EQ(state.picker->selected, 1233U);
  EXPECT_NE(shown(state).find(" 1,234 matches "), std::string::npos);
  key(state, "Ctrl-U");
  key(state, "Ctrl-S");
  EXPECT_NE(shown(state).find(" newest 500 of 1,234 "), std::string::npos);
}

}  // namespace

}  // namespace reprise::cli::app
