#include <algorithm>

#include "base/grapheme.h"
#include "base/terminal_text.h"
#include "base/text.h"
#include "cli/app/render.h"

namespace reprise::cli::app {
namespace {

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
  const std::string text = cat(mark, terminal_line(words.substr(0, 1000)));
  if (display_width(text) <= columns) {
    return {{text, style}};
  }
  return {{cat(width_prefix(text, columns - 1), "…"), style}};
}

}  // namespace

std::vector<Line> todo_panel(const std::vector<Todo>& todos, std::size_t rows,
                             std::size_t columns) {
  std::vector<Line> out;
  if (todos.empty() || rows == 0 || columns < 8) {
    return out;
  }
  const auto done = std::ranges::count(todos, TodoStatus::completed, &Todo::status);
  out.push_back({{cat("Todos ", done, "/", todos.size()), kDim}});
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

}  // namespace reprise::cli::app
