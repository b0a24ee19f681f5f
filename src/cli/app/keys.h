#pragma once

// The table of keys and their actions, also used for help and docs/terminal.md.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace reprise::cli::app {

enum class Action : std::uint8_t {
  send,
  new_line,
  stop,
  leave_if_empty,
  close_tab,
  next_tab,
  previous_tab,
  go_to_tab,
  page_up,
  page_down,
  scroll_up,
  scroll_down,
  wheel_up,
  wheel_down,
  to_top,
  to_bottom,
  fold,
  todos,
  pick,
  complete,
  choose_above,
  search_history,
  search_transcript,
  open_editor,
  up,
  down,
  left,
  right,
  word_left,
  word_right,
  line_start,
  line_end,
  erase_before,
  erase_after,
  erase_word,
  erase_to_end,
  erase_to_start,
  yank,
  escape,
  help,
  redraw,
  suspend,
};

struct KeyBinding {
  Action action;
  std::string_view keys;              // names separated by blanks
  std::string_view help;              // one line
  std::string_view manual_text = {};  // replaces `keys` in the manual
};

// In the order of the manual.
std::span<const KeyBinding> key_bindings();

std::optional<Action> find_action(std::string_view key);

// The text of /help and F1: the commands and keys, as tables if there is room for them.
std::string app_help(std::size_t columns);

}  // namespace reprise::cli::app
