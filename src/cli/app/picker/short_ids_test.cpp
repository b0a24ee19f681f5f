// Tests of short ids in the picker.

#include <gtest/gtest.h>

#include "cli/app/testing/state.h"
#include "cli/app/update.h"

namespace reprise::cli::app {
namespace {

TEST(Picker, LengthensShortIdsThatAreEqual) {
  State state = empty_state();
  begin(state, {.pick = true, .all = true});
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

}  // namespace
}  // namespace reprise::cli::app
