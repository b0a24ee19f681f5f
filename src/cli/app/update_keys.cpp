// Handling of keys.

#include "base/text.h"
#include "cli/app/keys.h"
#include "cli/app/state.h"
#include "cli/app/update.h"

namespace reprise::cli::app {
namespace {

constexpr std::ptrdiff_t kWheelLines = 3;

// Scrolling past the end of a truncated entry shows more of it.
void expand_truncated(Tab& tab, const Frame& frame, Time now) {
  for (const VisibleLine& line :
       visible_lines(tab, frame.transcript_rows, frame.transcript_columns, now)) {
    Entry& entry = tab.entries[line.at.entry];
    const std::size_t last = lines_in(tab, line.at.entry, frame.transcript_columns, now).size() - 1;
    const bool folded = is_foldable(entry) && !entry.open.value_or(tab.unfolded);
    if (line.at.line == last && entry.ended && !folded && left_out(entry) > 0) {
      if (!tab.top) {
        tab.top = anchor_at_end(tab, frame.transcript_rows, frame.transcript_columns, now);
      }
      show_more(entry);
      return;
    }
  }
}

void scroll_lines(State& state, std::ptrdiff_t lines, Effects& effects) {
  Tab* const tab = state.tab();
  if (tab == nullptr) {
    return;
  }
  tab->scrolled = true;
  const Frame frame = frame_of(state);
  if (lines > 0) {
    expand_truncated(*tab, frame, state.now);
  }
  scroll(*tab, lines, frame.transcript_rows, frame.transcript_columns, state.now);
  const bool at_top = tab->top && tab->top->entry == 0;
  if (lines < 0 && at_top && tab->oldest.value > 0 && !tab->loading_older) {
    tab->loading_older = true;
    effects.emplace_back(LoadOlder{.tab = tab->id, .before = tab->oldest});
  }
}

std::ptrdiff_t page(const State& state) {
  const auto rows = static_cast<std::ptrdiff_t>(frame_of(state).transcript_rows);
  return rows > 2 ? rows - 1 : 1;
}

// With an empty input and scrolled up, arrow keys (and wheels that send them) scroll.
void edit_or_scroll(State& state, Action action, Effects& effects) {
  const bool is_scrolled = state.tab() != nullptr && state.tab()->top && state.input().empty();
  if (is_scrolled && (action == Action::up || action == Action::down)) {
    return scroll_lines(state, action == Action::up ? -1 : 1, effects);
  }
  edit(state.input(), action);
}

void go_to_tab(State& state, std::string_view key) {
  const char digit = key.back();
  const std::size_t index = digit == '0' ? 9 : static_cast<std::size_t>(digit - '1');
  if (index < state.tabs.size()) {
    show_tab(state, index);
  }
}

void step_tab(State& state, std::size_t step) {
  if (!state.tabs.empty()) {
    show_tab(state, (state.current + step) % state.tabs.size());
  }
}

void fold_all(State& state) {
  Tab* const tab = state.tab();
  if (tab == nullptr) {
    return;
  }
  tab->unfolded = !tab->unfolded;
  for (Entry& entry : tab->entries) {
    entry.open.reset();
  }
  tab->top.reset();
}

void toggle_todos(State& state) {
  if (Tab* const tab = state.tab(); tab != nullptr) {
    tab->todos_hidden = !tab->todos_hidden;
  }
}

// NOLINTNEXTLINE(readability-function-size): one line for each action
void act(State& state, Action action, std::string_view key, Effects& effects) {
  switch (action) {
    case Action::send:
      return state.input().empty() && toggle_part(state) ? void() : submit(state, effects);
    case Action::stop:
      return stop(state, effects);
    case Action::leave_if_empty:
      return state.input().empty() ? leave(state, ExitReason::quit, effects)
                                   : state.input().erase_after();
    case Action::close_tab:
      if (state.tab() == nullptr) {
        return leave(state, ExitReason::quit, effects);
      }
      return close_tab(state, *state.tab(), effects);
    case Action::next_tab:
      return step_tab(state, 1);
    case Action::previous_tab:
      return step_tab(state, state.tabs.empty() ? 0 : state.tabs.size() - 1);
    case Action::go_to_tab:
      return go_to_tab(state, key);
    case Action::page_up:
      return scroll_lines(state, -page(state), effects);
    case Action::page_down:
      return scroll_lines(state, page(state), effects);
    case Action::scroll_up:
      return scroll_lines(state, -1, effects);
    case Action::scroll_down:
      return scroll_lines(state, 1, effects);
    case Action::wheel_up:
      return scroll_lines(state, -kWheelLines, effects);
    case Action::wheel_down:
      return scroll_lines(state, kWheelLines, effects);
    case Action::to_top:
      return scroll_lines(state, -1'000'000, effects);
    case Action::to_bottom:
      return state.tab() == nullptr ? void() : scroll_to_end(*state.tab());
    case Action::escape:
      return escape(state, effects);
    case Action::fold:
      return fold_all(state);
    case Action::todos:
      return toggle_todos(state);
    case Action::pick:
      return open_picker(state, false, false, effects);
    case Action::complete:
      return state.input().empty() ? choose_part(state, false) : complete_input(state, effects);
    case Action::choose_above:
      return state.input().empty() ? choose_part(state, true) : void();
    case Action::search_history:
      return begin_search(state, LineSearch::Kind::history);
    case Action::search_transcript:
      return state.tab() == nullptr ? void() : begin_search(state, LineSearch::Kind::transcript);
    case Action::open_editor:
      effects.emplace_back(OpenEditor{.tab = state.tab() == nullptr ? TabId{} : state.tab()->id,
                                      .text = state.input().unfolded_text()});
      return;
    case Action::help:
      return run_command(state, "/help", effects);
    case Action::redraw:
      effects.emplace_back(Redraw{});
      return;
    case Action::suspend:
      effects.emplace_back(Suspend{});
      return;
    default:
      return edit_or_scroll(state, action, effects);
  }
}

}  // namespace

void edit(Editor& input, Action action) {
  switch (action) {
    case Action::new_line:
      return input.insert("\n");
    case Action::up:
      return void(input.up() || input.older());
    case Action::down:
      return void(input.down() || input.newer());
    case Action::left:
      return input.left();
    case Action::right:
      return input.right();
    case Action::word_left:
      return input.word_left();
    case Action::word_right:
      return input.word_right();
    case Action::line_start:
      return input.line_start();
    case Action::line_end:
      return input.line_end();
    case Action::erase_before:
      return input.erase_before();
    case Action::erase_after:
      return input.erase_after();
    case Action::erase_word:
      return input.erase_word();
    case Action::erase_to_end:
      return input.erase_to_end();
    case Action::erase_to_start:
      return input.erase_to_start();
    case Action::yank:
      return input.yank();
    default:
      return;
  }
}

void press(State& state, std::string_view key, Effects& effects) {
  // The second key of a sequence.
  if (std::exchange(state.after_ctrl_x, false)) {
    return press(state, cat("Ctrl-X+", key), effects);
  }
  const std::optional<Action> action = find_action(key);
  if (state.dialog_has_keys() && press_in_dialog(state, key, action, effects)) {
    return;
  }
  if (state.picker && !state.leaving && action != Action::redraw && action != Action::suspend) {
    press_in_picker(state, key, effects);
    return;
  }
  if (state.line_search && !state.leaving && press_in_search(state, key, effects)) {
    return;
  }
  if (!state.leaving && press_in_menu(state, key, effects)) {
    return;
  }
  if (key == "Ctrl-X") {
    state.after_ctrl_x = true;
    return;
  }
  if (!action || (state.leaving && action != Action::stop)) {
    return;
  }
  state.status.clear();
  if (Tab* const tab = state.tab(); tab != nullptr) {
    tab->searching = false;
  }
  act(state, *action, key, effects);
  if (action == Action::erase_before || action == Action::erase_word) {
    offer_commands(state);
  }
}

}  // namespace reprise::cli::app
