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

}  // namespace reprise::cli::app
