// Compares every screen at three sizes with screens/NAME.txt. If REPRISE_WRITE_SCREENS is set,
// rewrites the files, for review in the diff.

#include "cli/app/testing/screens.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "cli/app/testing/state.h"

namespace reprise::cli::app {
namespace {

// Abbreviates runs of empty rows.
std::string folded(std::string_view text) {
  std::string out;
  std::size_t empty = 0;
  const auto close = [&] {
    out += empty > 2 ? cat("(", empty, " empty rows)\n") : std::string(empty, '\n');
    empty = 0;
  };
  while (!text.empty()) {
    const std::size_t end = text.find('\n') + 1;
    if (end == 1) {
      ++empty;
    } else {
      close();
      out += text.substr(0, end);
    }
    text.remove_prefix(end);
  }
  close();
  return out;
}

class Screens : public testing::TestWithParam<NamedScreen> {};

TEST_P(Screens, MatchTheRecordedFiles) {
  std::string text;
  for (const Size size : {Size{24, 80}, Size{50, 200}, Size{10, 40}}) {
    const State state = GetParam().make(size);
    const Screen screen = render(state);
    const auto cursor = screen.cursor();
    text += cat("== ", size.columns, "x", size.rows,
                cursor ? cat(", cursor at ", cursor->row, ", ", cursor->column) : "", "\n",
                folded(screen.text()));
  }
  const std::string file = cat(REPRISE_SCREENS, "/", GetParam().name, ".txt");
  if (std::getenv("REPRISE_WRITE_SCREENS") != nullptr) {
    std::ofstream(file) << text;
    return;
  }
  EXPECT_EQ(text, read_file(file).value_or("")) << file;
}

std::string name_of(const testing::TestParamInfo<NamedScreen>& screen) {
  return std::string(screen.param.name);
}

INSTANTIATE_TEST_SUITE_P(Talk, Screens, testing::ValuesIn(session_screens()), name_of);
INSTANTIATE_TEST_SUITE_P(Picker, Screens, testing::ValuesIn(picker_screens()), name_of);

}  // namespace
}  // namespace reprise::cli::app
