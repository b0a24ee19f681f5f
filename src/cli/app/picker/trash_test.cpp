// Tests of the trash in the picker: listing, restoring, emptying.

#include <gtest/gtest.h>

#include <algorithm>

#include "cli/app/testing/state.h"
#include "cli/app/update.h"

namespace reprise::cli::app {
namespace {

std::vector<PickerRow> trashed_rows() {
  std::vector<PickerRow> rows(4);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].id = "id-" + std::to_string(i + 1);
    rows[i].title = "title " + std::to_string(i + 1);
    rows[i].words = rows[i].title;
  }
  return rows;
}

State picking_trash() {
  State state = empty_state(kUsual);
  begin(state, {.pick = true, .all_folders = true});
  update(state, PageLoaded{.generation = 1, .rows = trashed_rows(), .next = ""});
  return state;
}

bool lists_trash(const Effects& effects) {
  return std::ranges::any_of(effects, [](const Effect& effect) {
    const auto* const page = std::get_if<LoadPage>(&effect);
    return page != nullptr && page->trash;
  });
}

TEST(Picker, ListsTheTrashAndRestores) {
  State state = picking_trash();
  EXPECT_TRUE(lists_trash(key(state, "Ctrl-T")));
  const int generation = state.picker->generation;
  update(state, PageLoaded{.generation = generation, .rows = trashed_rows(), .next = ""});
  EXPECT_NE(shown(state).find("Trash"), std::string::npos);
  EXPECT_EQ(only<RestoreStored>(key(state, "Enter")).id, "id-1");
  update(state, StoredChanged{.change = StoredChanged::Change::restored, .id = "id-1"});
  EXPECT_EQ(state.picker->rows.size(), 3U);
  EXPECT_FALSE(lists_trash(key(state, "Ctrl-T")));
}

TEST(Picker, EmptiesTheTrashAfterConfirmation) {
  State state = picking_trash();
  EXPECT_EQ(key(state, "Ctrl-X").size(), 0U) << "not from the other list";
  EXPECT_EQ(state.picker->note, "");
  key(state, "Ctrl-T");
  update(state,
         PageLoaded{.generation = state.picker->generation, .rows = trashed_rows(), .next = ""});
  for (const bool agrees : {false, true}) {
    key(state, "Ctrl-X");
    EXPECT_NE(state.picker->note.find("Remove 4 sessions for good?"), std::string::npos);
    const Effects effects = type(state, agrees ? "y" : "n");
    EXPECT_EQ(std::ranges::any_of(
                  effects,
                  [](const Effect& effect) { return std::holds_alternative<EmptyTrash>(effect); }),
              agrees);
    EXPECT_TRUE(state.picker->filter.empty());
  }
}

}  // namespace
}  // namespace reprise::cli::app
