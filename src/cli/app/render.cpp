
#include "cli/app/render.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/terminal_text.h"
#include "base/text.h"
#include "cli/app/state.h"
#include "cli/markdown/style.h"
#include "cli/output/table.h"

namespace reprise::cli::app {
namespace {

constexpr Style kPrompt{.colour = Colour::cyan, .bold = true};

// The content of an empty transcript.
std::vector<Line> welcome(const State& state, std::size_t width) {
  const Tab* const tab = state.tab();
  std::vector<Line> lines{{}};
  const auto add_text = [&](std::string_view text, Style style) {
    for (Line& line : wrap_text(text, style, width, {{{"  ", {}}}, {{"  ", {}}}})) {
      lines.push_back(std::move(line));
    }
  };
  add_text("Reprise", kBold);
  if (tab == nullptr && state.tabs_opened == 0) {
    add_text(state.dialogs.empty() ? "opening…" : "", kDim);
  } else if (tab == nullptr) {
    if (!state.notice.empty()) {
      add_text(state.notice, {.colour = Colour::yellow});
      lines.emplace_back();
    }
    add_text("No session is open.", kDim);
    add_text("A message starts one in this folder; /session new PATH starts one elsewhere.", kDim);
  } else if (tab->phase == Tab::Phase::opening) {
    add_text("opening…", kDim);
  } else {
    add_text(cat("A new session in ", short_path(state, tab->metadata.folder)), kDim);
    add_text("Type a message and press Enter. /help lists commands, F1 the keys.", kDim);
  }
  return lines;
}

// Highlights the search pattern in a line.
void highlight_match(Screen& screen, const Line& line, std::size_t row, std::string_view pattern) {
  if (pattern.empty()) {
    return;
  }
  const std::string text = text_of(line);
  const std::string small = lower_case(text);
  for (std::size_t at = small.find(pattern); at != std::string::npos;
       at = small.find(pattern, at + pattern.size())) {
    const std::size_t column = display_width(std::string_view(text).substr(0, at));
    screen.put({row, column}, std::string_view(text).substr(at, pattern.size()),
               {.colour = Colour::yellow, .reverse = true});
  }
}

Line reversed(Line line) {
  for (Span& span : line) {
    span.style.dim = false;
    span.style.reverse = true;
  }
  return line;
}

void render_transcript(Screen& screen, const State& state, const Frame& frame) {
  const Tab* const tab = state.tab();
  const std::size_t width = frame.transcript_columns;
  if (tab == nullptr || tab->entries.empty()) {
    const std::vector<Line> lines = welcome(state, width);
    for (std::size_t i = 0; i < lines.size() && i < frame.transcript_rows; ++i) {
      screen.put({frame.transcript_row + i, 0}, lines[i]);
    }
    return;
  }
  const auto lines = visible_lines(*tab, frame.transcript_rows, width, state.now);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto& [line, at] = lines[i];
    const bool chosen = at.line == 0 && tab->chosen_part() == at.entry;
    screen.put({frame.transcript_row + i, 0}, chosen ? reversed(*line) : *line, width);
    highlight_match(screen, *line, frame.transcript_row + i, tab->search);
  }
}

void render_todos(Screen& screen, const State& state, const Frame& frame) {
  const bool beside = !frame.todos.empty() && frame.transcript_columns < state.size.columns;
  for (std::size_t i = 0; beside && i < frame.transcript_rows; ++i) {
    screen.put({frame.transcript_row + i, frame.transcript_columns + 1}, "│", kDim);
  }
  for (std::size_t i = 0; i < frame.todos.size(); ++i) {
    screen.put({frame.todo_position.row + i, frame.todo_position.column}, frame.todos[i]);
  }
}

void render_rule(Screen& screen, const State& state, const Frame& frame) {
  if (frame.rule_rows == 0) {
    return;
  }
  const std::size_t row = frame.input_row - 1;
  screen.fill({row, 0}, kDim, "─");
  const Tab* const tab = state.tab();
  if (tab == nullptr) {
    return;
  }
  if (!tab->attached.empty()) {
    std::string text = " attached:";
    for (const std::string& file : tab->attached) {
      text += cat(" ", terminal_line(file));
    }
    screen.put({row, 2}, cat(text, " "), {.colour = Colour::yellow}, state.size.columns - 2);
    return;
  }
  if (!tab->top && !tab->chosen_part() && !tab->editing) {
    return;
  }
  using Forms = std::array<std::string_view, 2>;  // the second one for narrow screens
  const Forms words =
      tab->editing
          ? Forms{" Enter replaces the last question, Esc cancels ", " editing the last question "}
      : tab->chosen_part()
          ? Forms{" Enter opens and closes it, Tab the next, Esc back ",
                  " Enter opens and closes it "}
          : Forms{" ↓ more below, Esc goes there, Ctrl-F searches ", " ↓ more below "};
  for (const std::string_view text : words) {
    if (state.size.columns > display_width(text) + 2) {
      screen.put({row, 2}, text, {.colour = Colour::yellow});
      return;
    }
  }
}

void render_input(Screen& screen, const State& state, const Frame& frame) {
  if (!frame.dialog.empty()) {
    for (std::size_t i = 0; i < frame.input_rows; ++i) {
      screen.put({frame.input_row + i, 0}, frame.dialog[i]);
    }
    if (!frame.input.lines.empty()) {
      screen.set_cursor({frame.input_row + frame.input_rows - 1, frame.input.cursor.column + 2});
    }
    return;
  }
  for (std::size_t i = 0; i < frame.input_rows; ++i) {
    const std::size_t line = frame.input_first + i;
    screen.put({frame.input_row + i, 0}, line == 0 ? "› " : "  ", kPrompt);
    screen.put({frame.input_row + i, 2}, frame.input.lines[line], kPlain);
  }
  if (state.input().empty() && !state.leaving) {
    screen.put({frame.input_row, 2}, "Message, or / for commands", kDim);
  }
  if (state.line_search) {
    return;  // the cursor is in the search line
  }
  screen.set_cursor({frame.input_row + frame.input.cursor.row - frame.input_first,
                     frame.input.cursor.column + 2});
}

// Drawn over the last lines of the transcript.
void render_menu(Screen& screen, const State& state, const Frame& frame) {
  constexpr std::size_t kMenuRowsMax = 10;
  if (!state.menu || !state.dialogs.empty() || state.leaving) {
    return;
  }
  const Menu& menu = *state.menu;
  const std::size_t bottom = frame.input_row - frame.rule_rows;
  const std::size_t rows = std::min({menu.items.size(), kMenuRowsMax, bottom - frame.tab_rows});
  const std::size_t first = menu.selected < rows ? 0 : menu.selected + 1 - rows;
  const auto name_of = [](const Menu::Item& item) {
    return item.arguments.empty() ? item.name : cat(item.name, " ", item.arguments);
  };
  std::size_t column = 0;
  for (const Menu::Item& item : menu.items) {
    column = std::max(column, display_width(name_of(item)));
  }
  column = std::min(column, state.size.columns / 3) + 3;
  for (std::size_t i = 0; i < rows; ++i) {
    const Menu::Item& item = menu.items[first + i];
    const bool selected = first + i == menu.selected;
    const std::size_t row = bottom - rows + i;
    screen.fill({row, 0}, kPlain, " ");
    const Style style = selected ? Style{.colour = Colour::cyan, .bold = true} : kPlain;
    screen.put({row, 0}, selected ? "▸ " : "  ", style);
    screen.put({row, 2}, fit_text(name_of(item), column - 3), style, column - 1);
    const std::size_t columns = state.size.columns - std::min(column, state.size.columns);
    screen.put({row, column}, fit_text(item.help, columns), kDim);
  }
}

}  // namespace

Screen render(const State& state) {
  Screen screen(state.size);
  if (state.size.rows == 0 || state.size.columns == 0) {
    return screen;
  }
  if (state.picker && state.dialogs.empty() && !state.leaving) {
    render_picker(screen, state, *state.picker);
    return screen;
  }
  const Frame frame = frame_of(state);
  if (frame.tab_rows > 0) {
    render_tabs(screen, state);
  }
  render_transcript(screen, state, frame);
  render_todos(screen, state, frame);
  render_menu(screen, state, frame);
  render_rule(screen, state, frame);
  render_input(screen, state, frame);
  render_status(screen, state, frame.status_row);
  return screen;
}

}  // namespace reprise::cli::app
