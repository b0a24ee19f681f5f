#pragma once

// The state as a screen. Pure.

#include "cli/app/state.h"  // IWYU pragma: export
#include "cli/app/style.h"  // IWYU pragma: export

namespace reprise::cli::app {

Screen render(const State& state);

// What the terminal's window is called; safe for it.
std::string window_title(const State& state);

// Its parts.
void render_picker(Screen& screen, const State& state, const Picker& picker);
void render_tabs(Screen& screen, const State& state);
void render_status(Screen& screen, const State& state, std::size_t row);

// The todos of a session as lines: beside the transcript or below it. Pure.

// At most `rows` lines of at most `columns` columns, with what is in progress among them. Empty
// for no todos or no room.
std::vector<Line> todo_panel(const std::vector<Todo>& todos, std::size_t rows, std::size_t columns);

}  // namespace reprise::cli::app
