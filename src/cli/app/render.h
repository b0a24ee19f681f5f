#pragma once

// Renders the state as a screen. Pure functions.

#include "cli/app/state.h"       // IWYU pragma: export
#include "cli/markdown/style.h"  // IWYU pragma: export

namespace reprise::cli::app {

Screen render(const State& state);

// The title of the terminal's window; sanitized.
std::string window_title(const State& state);

// Parts of the screen.
void render_picker(Screen& screen, const State& state, const Picker& picker);
void render_tabs(Screen& screen, const State& state);
void render_status(Screen& screen, const State& state, std::size_t row);

// The todos of a session as lines, beside the transcript or below it. Pure.

// At most `rows` lines of at most `columns` columns, including the todo in progress. Empty if there
// are no todos or no room.
std::vector<Line> todo_panel(const std::vector<Todo>& todos, std::size_t rows, std::size_t columns);

}  // namespace reprise::cli::app
