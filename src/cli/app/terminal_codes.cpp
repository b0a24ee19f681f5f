// Queries of ncurses: names of keys, the mouse, the terminal.

#include <algorithm>
#include <array>
#include <cwchar>

// After the standard headers: it defines macros with everyday names.
#define NCURSES_NOMACROS
#define NCURSES_WIDECHAR 1
#include <ncurses.h>

#include "cli/app/terminal_keys.h"

namespace reprise::cli::app {

std::string name_of_code(wint_t code) {
  if (code >= kFirstOwnKey) {
    const auto& sequences = key_sequences();
    const std::size_t place = code - kFirstOwnKey;
    return place < sequences.size() ? std::string(sequences[place].name) : "";
  }
  switch (code) {
    case KEY_UP:
      return "Up";
    case KEY_DOWN:
      return "Down";
    case KEY_LEFT:
      return "Left";
    case KEY_RIGHT:
      return "Right";
    case KEY_HOME:
      return "Home";
    case KEY_END:
      return "End";
    case KEY_PPAGE:
      return "PgUp";
    case KEY_NPAGE:
      return "PgDn";
    case KEY_DC:
      return "Delete";
    case KEY_BACKSPACE:
      return "Backspace";
    case KEY_ENTER:
      return "Enter";
    case KEY_BTAB:
      return "Shift-Tab";
    case KEY_SR:
      return "Shift-Up";
    case KEY_SF:
      return "Shift-Down";
    case KEY_F(1):
      return "F1";
    case KEY_F(2):
      return "F2";
    case KEY_F(3):
      return "F3";
    default:
      return "";
  }
}

bool has_title() {
  const std::string_view name = ::termname();
  return std::ranges::any_of(
      std::array<std::string_view, 11>{"xterm", "screen", "tmux", "rxvt", "alacritty", "foot",
                                       "kitty", "wezterm", "ghostty", "konsole", "gnome"},
      [name](std::string_view known) { return name.starts_with(known); });
}

std::string_view name_of_mouse_event() {
  MEVENT event{};
  if (::getmouse(&event) != OK) {
    return "";
  }
  if ((event.bstate & BUTTON4_PRESSED) != 0) {
    return "Wheel-Up";
  }
  return (event.bstate & BUTTON5_PRESSED) != 0 ? "Wheel-Down" : "";
}

}  // namespace reprise::cli::app
