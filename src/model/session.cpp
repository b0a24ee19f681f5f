#include "reprise/session.h"

#include "base/json_scan.h"
#include "model/fields.h"
#include "model/json_fields.h"

namespace reprise {
namespace {

constexpr std::pair<SessionState, std::string_view> kSessionStates[] = {
    {SessionState::active, "active"},
    {SessionState::closed, "closed"},
    {SessionState::archived, "archived"},
    {SessionState::trashed, "trashed"},
};

constexpr std::pair<TodoStatus, std::string_view> kTodoStatuses[] = {
    {TodoStatus::pending, "pending"},
    {TodoStatus::in_progress, "in_progress"},
    {TodoStatus::completed, "completed"},
};

template <class Enum, std::size_t Count>
std::string_view name_of(const std::pair<Enum, std::string_view> (&table)[Count], Enum value) {
  for (const auto& [known, name] : table) {
    if (known == value) {
      return name;
    }
  }
  return table[0].second;
}

template <class Enum, std::size_t Count>
std::optional<Enum> value_of(const std::pair<Enum, std::string_view> (&table)[Count],
                             std::string_view text) {
  for (const auto& [value, name] : table) {
    if (name == text) {
      return value;
    }
  }
  return std::nullopt;
}

}  // namespace

std::string_view to_string(SessionState state) {
  return name_of(kSessionStates, state);
}

std::optional<SessionState> parse_session_state(std::string_view text) {
  return value_of(kSessionStates, text);
}

std::string_view to_string(TodoStatus status) {
  return name_of(kTodoStatuses, status);
}

std::optional<TodoStatus> parse_todo_status(std::string_view text) {
  return value_of(kTodoStatuses, text);
}

bool is_interrupted(const SessionInfo& info) {
  return info.state == SessionState::active &&
         (info.answering ? state_of(*info.answering) != OwnerState::alive : info.cut);
}

std::string todos_to_json(const std::vector<Todo>& todos) {
  std::string out;
  model::append_json(out, todos, model::JsonForm::stored);
  return out;
}

Result<std::vector<Todo>> todos_from_json(std::string_view json) {
  json::Scanner scanner(json);
  std::vector<Todo> todos;
  const auto todo = [&] {
    return model::read_fields(scanner, model::kTodoFields, todos.emplace_back());
  };
  if (!scanner.array(todo) || !scanner.end()) {
    return std::unexpected(scanner.fault());
  }
  return todos;
}

}  // namespace reprise
