#pragma once

// The layout of the screen, and the visible lines of the transcript. Pure; update() needs it for
// scrolling, render() for painting.

#include "cli/app/state.h"       // IWYU pragma: export
#include "cli/markdown/style.h"  // IWYU pragma: export

namespace reprise::cli::app {

// From top to bottom; parts without rows are omitted on a small screen.
struct Frame {
  std::size_t tab_rows = 0;
  std::size_t transcript_row = 0;
  std::size_t transcript_rows = 0;
  std::size_t transcript_columns = 0;
  std::vector<Line> todos;  // beside the transcript or below it
  Place todo_place = {};
  std::size_t todo_gap = 0;  // empty rows above them
  std::size_t rule_rows = 0;
  std::size_t input_row = 0;
  std::size_t input_rows = 0;
  EditorLines input;            // all lines
  std::size_t input_first = 0;  // the first visible one
  std::vector<Line> dialog;     // replaces the input
  std::size_t status_row = 0;
};
Frame frame_of(const State& state);

// The first visible line when the end is shown.
Anchor anchor_at_end(const Tab& tab, std::size_t rows, std::size_t width, Time now);

// The lines of an entry, folded or not as in the tab. Valid until the entry changes.
const std::vector<Line>& lines_in(const Tab& tab, std::size_t entry, std::size_t width, Time now);

struct VisibleLine {
  const Line* line;
  Anchor at;
};
// The visible lines, at most `rows`. Valid until an entry changes.
std::vector<VisibleLine> visible_lines(const Tab& tab, std::size_t rows, std::size_t width,
                                       Time now);

// Scrolls by lines; negative is up. At the end, the tab follows new text.
void scroll(Tab& tab, std::ptrdiff_t lines, std::size_t rows, std::size_t width, Time now);

}  // namespace reprise::cli::app
