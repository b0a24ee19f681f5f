#pragma once

// The state as a screen. Pure.

#include "cli/app/state.h"

namespace reprise::cli::app {

Screen render(const State& state);

// What the terminal's window is called; safe for it.
std::string window_title(const State& state);

// Its parts.
void render_picker(Screen& screen, const State& state, const Picker& picker);
void render_tabs(Screen& screen, const State& state);
void render_status(Screen& screen, const State& state, std::size_t row);

}  // namespace reprise::cli::app
