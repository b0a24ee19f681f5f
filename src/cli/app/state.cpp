#include "cli/app/state.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>

#include "base/terminal_text.h"
#include "base/text.h"
#include "cli/markdown/style.h"
#include "cli/output/table.h"
#include "reprise/conversation.h"

namespace reprise::cli::app {
namespace {

constexpr std::size_t kRowsForRule = 8;
constexpr std::size_t kRowsForTabs = 5;
constexpr std::size_t kColumnsForSideTodos = 110;
constexpr std::size_t kSideTodoColumns = 36;
constexpr std::size_t kBelowTodoRows = 6;
constexpr std::size_t kRowsForGap = 10;
constexpr std::size_t kQuestionBytesMax = 8192;

Line todo_line(const Todo& todo, std::size_t columns) {
  std::string_view mark = "[ ] ";
  std::string_view words = todo.content;
  Style style = kPlain;
  if (todo.status == TodoStatus::completed) {
    mark = "[x] ";
    style = kDim;
  } else if (todo.status == TodoStatus::in_progress) {
    mark = "[~] ";
    words = todo.active_form.empty() ? words : todo.active_form;
    style = {.colour = Colour::cyan, .bold = true};
  }
  return {{fit_text(cat(mark, terminal_line(words.substr(0, 1000))), columns), style}};
}

// At most `rows` lines of at most `columns` columns, including the todo in progress. Empty if there
// are no todos or no room.
std::vector<Line> todo_panel(const std::vector<Todo>& todos, std::size_t rows,
                             std::size_t columns) {
  std::vector<Line> out;
  if (todos.empty() || rows == 0 || columns < 8) {
    return out;
  }
  const auto completed = std::ranges::count(todos, TodoStatus::completed, &Todo::status);
  out.push_back({{cat("Todos ", completed, "/", todos.size()), kDim}});
  const std::size_t room = rows - 1;
  const auto running = std::ranges::find(todos, TodoStatus::in_progress, &Todo::status);
  const auto next = running != todos.end()
                        ? running
                        : std::ranges::find(todos, TodoStatus::pending, &Todo::status);
  // Shows one completed todo before the current one if there is room.
  auto first = static_cast<std::size_t>(next - todos.begin());
  first = first > 0 && room > 1 ? first - 1 : first;
  first = std::min(first, todos.size() - std::min(todos.size(), room));
  for (std::size_t i = first; i < todos.size() && out.size() < rows; ++i) {
    out.push_back(todo_line(todos[i], columns));
  }
  return out;
}

// At most `rows` lines if possible; always includes the keys to answer with.
std::vector<Line> dialog_lines(const Dialog& dialog, std::size_t width, std::size_t rows) {
  const bool consent = dialog.kind == Dialog::Kind::consent;
  const std::string_view question = std::string_view(dialog.question).substr(0, kQuestionBytesMax);
  std::vector<Line> lines = wrap_text(
      question, kBold, width, {{{"? ", {.colour = Colour::yellow, .bold = true}}}, {{"  ", {}}}});
  const char* const keys = consent ? "Enter or y: yes · o: once · a: always here · Esc or n: no"
                                   : "Enter or y: yes · Esc or n: no";
  std::vector<Line> last = wrap_text(keys, kDim, width, {{{"  ", {}}}, {{"  ", {}}}});
  const std::size_t room = rows > last.size() + 1 ? rows - last.size() : 1;
  if (lines.size() > room || question.size() < dialog.question.size()) {
    lines.resize(room > 1 ? std::min(lines.size(), room - 1) : 1);
    if (room > 1) {
      const char* const ellipsis = consent ? "  … Ctrl-T and PgUp show all of it" : "  …";
      lines.push_back({{ellipsis, {.colour = Colour::yellow}}});
    }
  }
  std::ranges::move(last, std::back_inserter(lines));
  return lines;
}

// Reserves room for the todos within the transcript's area.
void place_todos(Frame& frame, const State& state) {
  const Tab* const tab = state.tab();
  if (tab == nullptr || tab->todos_hidden) {
    return;
  }
  if (state.size.columns >= kColumnsForSideTodos) {
    frame.todos = todo_panel(tab->metadata.todos, frame.transcript_rows, kSideTodoColumns - 4);
    if (!frame.todos.empty()) {
      frame.transcript_columns = state.size.columns - kSideTodoColumns;
      frame.todo_position = {frame.transcript_row, frame.transcript_columns + 3};
    }
    return;
  }
  frame.todos = todo_panel(tab->metadata.todos, std::min(kBelowTodoRows, frame.transcript_rows / 3),
                           state.size.columns - 2);
  frame.transcript_rows -= frame.todos.size();
  if (!frame.todos.empty() && frame.transcript_rows >= kRowsForGap) {
    --frame.transcript_rows;
    ++frame.todo_gap;
  }
  frame.todo_position = {frame.transcript_row + frame.transcript_rows + frame.todo_gap, 2};
}

std::size_t height(const Tab& tab, std::size_t entry, std::size_t width, Time now) {
  return lines_in(tab, entry, width, now).size();
}

}  // namespace

Tab* State::find(TabId id) {
  const auto found = std::ranges::find(tabs, id, &Tab::id);
  return found == tabs.end() ? nullptr : &*found;
}

std::string tab_name(const Tab& tab) {
  if (!tab.metadata.title.empty()) {
    return terminal_line(tab.metadata.title);
  }
  // Several tabs may have the same folder.
  const auto question = std::ranges::find(tab.entries, Entry::Kind::question, &Entry::kind);
  if (tab.oldest == Seq{} && question != tab.entries.end()) {
    if (const std::string name = title_from_prompt(question->text); !name.empty()) {
      return terminal_line(name);
    }
  }
  const std::string folder = std::filesystem::path(tab.metadata.folder).filename().string();
  return folder.empty() ? "new" : terminal_line(folder);
}

std::string short_path(const State& state, const std::string& path) {
  if (state.home.size() > 1 && path.starts_with(state.home) &&
      (path.size() == state.home.size() || path[state.home.size()] == '/')) {
    return cat("~", path.substr(state.home.size()));
  }
  return path;
}

bool State::dialog_has_keys() const {
  return !dialogs.empty() && !(dialogs.front().while_typing && now - typed_at < kTypingPause);
}

Frame frame_of(const State& state) {
  Frame frame;
  const std::size_t rows = state.size.rows;
  const std::size_t width = state.size.columns;
  frame.tab_rows = rows >= kRowsForTabs ? 1 : 0;
  frame.rule_rows = rows >= kRowsForRule ? 1 : 0;
  const std::size_t status_rows = rows >= 3 ? 1 : 0;
  const std::size_t input_rows_max = std::max<std::size_t>(1, rows / 3);
  if (state.dialogs.empty()) {
    frame.input = editor_lines(state.input(), width > 4 ? width - 3 : 1);
    frame.input_rows = std::min(frame.input.lines.size(), input_rows_max);
    if (frame.input.cursor.row >= frame.input_rows) {
      frame.input_first = frame.input.cursor.row - frame.input_rows + 1;
    }
  } else {
    const std::size_t dialog_rows = std::max<std::size_t>(2, rows / 2);
    frame.dialog = dialog_lines(state.dialogs.front(), width, dialog_rows);
    if (!state.first_input.empty()) {
      frame.input = editor_lines(state.first_input, width > 4 ? width - 3 : 1);
      frame.dialog.push_back({{"› ", {.colour = Colour::cyan, .bold = true}},
                              {frame.input.lines[frame.input.cursor.row], {}}});
    }
    frame.input_rows = std::min(frame.dialog.size(), dialog_rows + 1);
  }
  const std::size_t taken = frame.tab_rows + frame.rule_rows + status_rows + frame.input_rows;
  frame.transcript_row = frame.tab_rows;
  frame.transcript_rows = rows > taken ? rows - taken : 0;
  frame.transcript_columns = width;
  frame.input_row = frame.transcript_row + frame.transcript_rows + frame.rule_rows;
  frame.status_row = status_rows > 0 ? rows - 1 : rows;
  place_todos(frame, state);
  return frame;
}

Anchor anchor_at_end(const Tab& tab, std::size_t rows, std::size_t width, Time now) {
  std::size_t left = rows;
  for (std::size_t entry = tab.entries.size(); entry-- > 0;) {
    const std::size_t lines = height(tab, entry, width, now);
    if (lines >= left) {
      return {entry, lines - left};
    }
    left -= lines;
  }
  return {};
}

const std::vector<Line>& lines_in(const Tab& tab, std::size_t entry, std::size_t width, Time now) {
  const Entry& item = tab.entries[entry];
  return lines_of(item, width, item.open.value_or(tab.unfolded), now);
}

std::vector<VisibleLine> visible_lines(const Tab& tab, std::size_t rows, std::size_t width,
                                       Time now) {
  std::vector<VisibleLine> out;
  const Anchor end = anchor_at_end(tab, rows, width, now);
  const Anchor top = std::min(tab.top.value_or(end), end);
  for (std::size_t entry = top.entry; entry < tab.entries.size() && out.size() < rows; ++entry) {
    const std::vector<Line>& lines = lines_in(tab, entry, width, now);
    for (std::size_t line = entry == top.entry ? top.line : 0;
         line < lines.size() && out.size() < rows; ++line) {
      out.push_back({&lines[line], {entry, line}});
    }
  }
  return out;
}

void scroll(Tab& tab, std::ptrdiff_t lines, std::size_t rows, std::size_t width, Time now) {
  const Anchor end = anchor_at_end(tab, rows, width, now);
  Anchor top = std::min(tab.top.value_or(end), end);
  if (tab.entries.empty()) {
    return;
  }
  for (; lines < 0; ++lines) {
    if (top.line > 0) {
      --top.line;
    } else if (top.entry > 0) {
      --top.entry;
      top.line = height(tab, top.entry, width, now) - 1;
    } else {
      break;
    }
  }
  for (; lines > 0 && top < end; --lines) {
    ++top.line;
    if (top.line >= height(tab, top.entry, width, now)) {
      top = {top.entry + 1, 0};
    }
  }
  tab.top.reset();
  if (top < end) {
    tab.top = top;
  }
}

}  // namespace reprise::cli::app
