#include "cli/app/keys.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "base/text.h"

namespace reprise::cli::app {
namespace {

constexpr auto kBindings = std::to_array<KeyBinding>({
    {Action::send, "Enter", "sends; after a backslash at the end begins another line"},
    {Action::new_line, "Alt-Enter Ctrl-J", "begins another line"},
    {Action::stop, "Ctrl-C",
     "stops the answer and keeps what came; gives up the input; twice leaves"},
    {Action::leave_if_empty, "Ctrl-D", "on an empty input leaves; else deletes a character"},
    {Action::close_tab, "Ctrl-W", "saves and closes the session"},
    {Action::next_tab, "Ctrl-N Ctrl-Tab", "the next session"},
    {Action::previous_tab, "Ctrl-P Ctrl-Shift-Tab", "the session before"},
    {Action::go_to_tab, "Alt-1 Alt-2 Alt-3 Alt-4 Alt-5 Alt-6 Alt-7 Alt-8 Alt-9 Alt-0",
     "that session; Alt-0 is the tenth", "Alt-1 to Alt-9"},
    {Action::page_up, "PgUp", "a page back"},
    {Action::page_down, "PgDn", "a page on"},
    {Action::scroll_up, "Shift-Up Alt-Up", "a line back"},
    {Action::scroll_down, "Shift-Down Alt-Down", "a line on"},
    {Action::wheel_up, "Wheel-Up", "three lines back", "Mouse wheel up"},
    {Action::wheel_down, "Wheel-Down", "three lines on", "Mouse wheel down"},
    {Action::to_top, "Ctrl-Home", "to the beginning of what is loaded"},
    {Action::to_bottom, "Ctrl-End", "to the end, where new text comes"},
    {Action::escape, "Esc",
     "closes what is in front; to the end; stops the answer; twice edits the last question"},
    {Action::pick, "Ctrl-O", "choose a stored session to resume"},
    {Action::fold, "Ctrl-T", "unfolds all tool calls and thoughts, or folds them"},
    {Action::todos, "F3", "hides the list of todos, or shows it"},
    {Action::complete, "Tab",
     "completes commands, names of sessions, models; on an empty input chooses the next tool call "
     "or thought"},
    {Action::choose_above, "Shift-Tab",
     "on an empty input chooses the one before; Enter or Space opens and closes it"},
    {Action::search_history, "Ctrl-R", "looks for an earlier message; again for one before it"},
    {Action::search_transcript, "Ctrl-F",
     "searches upwards through the session; then n and N go on, on an empty input"},
    {Action::edit_elsewhere, "Ctrl-X+Ctrl-E", "edits the input with $VISUAL or $EDITOR",
     "Ctrl-X Ctrl-E"},
    {Action::up, "Up",
     "a line up in the input; in its first line an earlier message; scrolls while one looks back"},
    {Action::down, "Down",
     "a line down in the input; in its last line a later message; scrolls while one looks back"},
    {Action::left, "Left Ctrl-B", "a character back"},
    {Action::right, "Right", "a character on"},
    {Action::word_left, "Ctrl-Left Alt-B", "a word back"},
    {Action::word_right, "Ctrl-Right Alt-F", "a word on"},
    {Action::line_start, "Home Ctrl-A", "to the start of the line"},
    {Action::line_end, "End Ctrl-E", "to the end of the line"},
    {Action::erase_before, "Backspace", "deletes the character before"},
    {Action::erase_after, "Delete", "deletes the character after"},
    {Action::erase_word, "Alt-Backspace", "deletes the word before"},
    {Action::erase_to_end, "Ctrl-K", "deletes to the end of the line"},
    {Action::erase_to_start, "Ctrl-U", "deletes to the start of the line"},
    {Action::yank, "Ctrl-Y", "brings back what was deleted last"},
    {Action::help, "F1", "the commands and the most used keys"},
    {Action::redraw, "Ctrl-L", "draws the screen anew"},
    {Action::suspend, "Ctrl-Z", "stops the program until the shell says `fg`"},
});

// Calls `visit` with each name until it returns true.
template <class Visit>
bool any_key(const KeyBinding& binding, Visit visit) {
  for (std::string_view rest = binding.keys; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    if (visit(rest.substr(0, end))) {
      return true;
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

}  // namespace

std::span<const KeyBinding> key_bindings() {
  return kBindings;
}

std::optional<Action> find_action(std::string_view key) {
  for (const KeyBinding& binding : kBindings) {
    if (any_key(binding, [key](std::string_view name) { return name == key; })) {
      return binding.action;
    }
  }
  return std::nullopt;
}

std::string keys_markdown() {
  std::string out = "| key | does |\n|---|---|\n";
  for (const KeyBinding& binding : kBindings) {
    std::string names(binding.shown);
    if (names.empty()) {
      any_key(binding, [&names](std::string_view name) {
        names += cat(names.empty() ? "" : ", ", name);
        return false;
      });
    }
    out += cat("| ", names, " | ", binding.help, " |\n");
  }
  return out;
}

}  // namespace reprise::cli::app
