#pragma once

// Where the parts of the screen are, and which lines of the transcript it shows. Pure; update()
// needs it to scroll, render() to paint.

#include "cli/app/state.h"  // IWYU pragma: export
#include "cli/app/style.h"  // IWYU pragma: export

namespace reprise::cli::app {

// From top to bottom; a part without rows is left out on a small screen.
struct Frame {
  std::size_t tab_rows = 0;
  std::size_t transcript_row = 0;
  std::size_t transcript_rows = 0;
  std::size_t transcript_columns = 0;
  std::vector<Line> todos;  // beside the transcript, or below it
  Place todo_place = {};
  std::size_t todo_gap = 0;  // empty rows above them
  std::size_t rule_rows = 0;
  std::size_t input_row = 0;
  std::size_t input_rows = 0;
  EditorLines input;            // all of its lines
  std::size_t input_first = 0;  // the first one shown
  std::vector<Line> dialog;     // instead of the input
  std::size_t status_row = 0;
};
Frame frame_of(const State& state);

// The first line shown when the end is shown.
Anchor anchor_at_end(const Tab& tab, std::size_t rows, std::size_t width, Time now);

// The lines of an entry, as the tab shows it: folded or not. They live until it changes.
const std::vector<Line>& lines_in(const Tab& tab, std::size_t entry, std::size_t width, Time now);

struct VisibleLine {
  const Line* line;
  Anchor at;
};
// The lines shown, at most `rows`. They live until an entry changes.
std::vector<VisibleLine> visible_lines(const Tab& tab, std::size_t rows, std::size_t width,
                                       Time now);

// Scrolls by lines, up when negative. At the end, the tab follows what comes.
void scroll(Tab& tab, std::ptrdiff_t lines, std::size_t rows, std::size_t width, Time now);

}  // namespace reprise::cli::app
