// Tests of the picker's list of other tools' sessions.
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/app/effect.h"
#include "cli/app/state.h"
#include "cli/app/testing/state.h"
#include "cli/app/update.h"

namespace reprise::cli::app {
namespace {

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
  EXPECT_TRUE(page_of(key(state, "Tab")).all);
  const auto others = page_of(key(state, "Tab"));
  EXPECT_TRUE(others.others);
  update(state, PageLoaded{.generation = others.generation, .rows = {}, .next = ""});
  EXPECT_FALSE(state.leaving) << "the own sessions are still there";
  EXPECT_NE(shown(state).find("No other tool has sessions here."), std::string::npos);
  const auto back = page_of(key(state, "Tab"));
  EXPECT_FALSE(back.others);
  EXPECT_FALSE(back.all);
}

TEST(PickerOthers, AnotherToolsSessionIsOpenedAndNeitherRenamedNorTrashed) {
  State state = empty_state();
  begin(state, {.pick = true, .all = true});
  update(state, PageLoaded{.generation = 1, .rows = {own_row()}, .next = ""});
  const auto requested = page_of(key(state, "Tab"));
  EXPECT_TRUE(requested.others);
  PickerRow other = own_row();
  other.id = "claude:" + other.id;
  update(state, PageLoaded{.generation = requested.generation, .rows = {other}, .next = ""});
  EXPECT_TRUE(key(state, "Delete").empty());
  key(state, "F2");
  EXPECT_FALSE(state.picker->new_title);
  EXPECT_EQ(only<OpenSession>(key(state, "Enter")).sel, "claude:id-1");
}

}  // namespace
}  // namespace reprise::cli::app
