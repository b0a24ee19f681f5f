#include "cli/output/todo_lines.h"

#include "base/terminal_text.h"
#include "base/text.h"
#include "reprise/session.h"

namespace reprise::cli {
namespace {

std::string_view mark(TodoStatus status) {
  switch (status) {
    case TodoStatus::pending:
      return "[ ]";
    case TodoStatus::in_progress:
      return "[~]";
    case TodoStatus::completed:
      return "[x]";
  }
  return "[ ]";
}

}  // namespace

std::string todo_lines(const std::vector<Todo>& todos) {
  std::string out;
  for (std::size_t i = 0; i < todos.size(); ++i) {
    out += cat(i + 1, ". ", mark(todos[i].status), " ", terminal_line(todos[i].content), "\n");
  }
  return out;
}

}  // namespace reprise::cli
