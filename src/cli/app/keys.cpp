#include "cli/app/keys.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "base/text.h"
#include "cli/repl/slash.h"

namespace reprise::cli::app {
namespace {

constexpr auto kBindings = std::to_array<KeyBinding>({
    {Action::send, "Enter", "send; after a backslash at the end, start another line"},
    {Action::new_line, "Alt-Enter Ctrl-J", "start another line"},
    {Action::stop, "Ctrl-C",
     "stop the answer and keep what has arrived; clear the input; twice quits"},
    {Action::leave_if_empty, "Ctrl-D", "quit if the input is empty, else delete a character"},
    {Action::close_tab, "Ctrl-W", "save and close the session"},
    {Action::next_tab, "Ctrl-N Ctrl-Tab", "next session"},
    {Action::previous_tab, "Ctrl-P Ctrl-Shift-Tab", "previous session"},
    {Action::go_to_tab, "Alt-1 Alt-2 Alt-3 Alt-4 Alt-5 Alt-6 Alt-7 Alt-8 Alt-9 Alt-0",
     "switch to that session; Alt-0 is the tenth", "Alt-1 to Alt-9"},
    {Action::page_up, "PgUp", "scroll up a page"},
    {Action::page_down, "PgDn", "scroll down a page"},
    {Action::scroll_up, "Shift-Up Alt-Up", "scroll up a line"},
    {Action::scroll_down, "Shift-Down Alt-Down", "scroll down a line"},
    {Action::wheel_up, "Wheel-Up", "scroll up three lines", "Mouse wheel up"},
    {Action::wheel_down, "Wheel-Down", "scroll down three lines", "Mouse wheel down"},
    {Action::to_top, "Ctrl-Home", "scroll to the top of what is loaded"},
    {Action::to_bottom, "Ctrl-End", "scroll to the end"},
    {Action::escape, "Esc",
     "close the open menu; scroll to the end; stop the answer; twice edits the last question"},
    {Action::pick, "Ctrl-O", "choose a stored session to resume"},
    {Action::fold, "Ctrl-T", "unfold or fold all tool calls and reasoning"},
    {Action::todos, "F3", "hide or show the todos"},
    {Action::complete, "Tab",
     "complete commands, session names and models; if the input is empty, choose the next tool "
     "call or reasoning"},
    {Action::choose_above, "Shift-Tab",
     "if the input is empty, choose the previous tool call; Enter or Space opens and closes it"},
    {Action::search_history, "Ctrl-R", "search earlier messages; again for the one before"},
    {Action::search_transcript, "Ctrl-F",
     "search upwards through the session; then n and N, if the input is empty"},
    {Action::open_editor, "Ctrl-X+Ctrl-E", "edit the input with $VISUAL or $EDITOR",
     "Ctrl-X Ctrl-E"},
    {Action::up, "Up",
     "up a line; in the first line, an earlier message; scrolls when not at the end"},
    {Action::down, "Down",
     "down a line; in the last line, a later message; scrolls when not at the end"},
    {Action::left, "Left Ctrl-B", "back a character"},
    {Action::right, "Right", "forward a character"},
    {Action::word_left, "Ctrl-Left Alt-B", "back a word"},
    {Action::word_right, "Ctrl-Right Alt-F", "forward a word"},
    {Action::line_start, "Home Ctrl-A", "start of the line"},
    {Action::line_end, "End Ctrl-E", "end of the line"},
    {Action::erase_before, "Backspace", "delete the character before the cursor"},
    {Action::erase_after, "Delete", "delete the character after the cursor"},
    {Action::erase_word, "Alt-Backspace", "delete the word before the cursor"},
    {Action::erase_to_end, "Ctrl-K", "delete to the end of the line"},
    {Action::erase_to_start, "Ctrl-U", "delete to the start of the line"},
    {Action::yank, "Ctrl-Y", "insert what was deleted last"},
    {Action::help, "F1", "show commands and keys"},
    {Action::redraw, "Ctrl-L", "redraw the screen"},
    {Action::suspend, "Ctrl-Z", "suspend; `fg` in the shell resumes it"},
});

bool has_key(const KeyBinding& binding, std::string_view key) {
  const std::vector<std::string_view> keys = split(binding.keys, ' ');
  return std::ranges::find(keys, key) != keys.end();
}

// The minimum width for tables with one line per entry.
constexpr std::size_t kColumnsForTable = 118;

// For screens too narrow for two columns.
std::string narrow_help() {
  std::string out;
  for (const SlashCommand& command : slash_commands()) {
    out += cat(command.name, command.arguments.empty() ? "" : " ", command.arguments, ": ",
               command.help, "\n");
  }
  out += "\n";
  for (const KeyBinding& binding : key_bindings()) {
    out += cat(binding.manual_text.empty() ? binding.keys : binding.manual_text, ": ", binding.help,
               "\n");
  }
  return out;
}

}  // namespace

std::span<const KeyBinding> key_bindings() {
  return kBindings;
}

std::optional<Action> find_action(std::string_view key) {
  const auto found = std::ranges::find_if(
      kBindings, [key](const KeyBinding& binding) { return has_key(binding, key); });
  return found == kBindings.end() ? std::nullopt : std::optional(found->action);
}

std::string app_help(std::size_t columns) {
  if (columns < kColumnsForTable) {
    return narrow_help();
  }
  std::string out = slash_help();
  out += "\n";
  for (const KeyBinding& binding : key_bindings()) {
    std::string keys(binding.manual_text.empty() ? binding.keys : binding.manual_text);
    keys.resize(std::max<std::size_t>(keys.size(), 24), ' ');
    out += cat("  ", keys, "  ", binding.help, "\n");
  }
  return out;
}

}  // namespace reprise::cli::app
