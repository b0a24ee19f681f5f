#include "reprise/session.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>

#include "base/json_scan.h"
#include "base/text.h"
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

constexpr std::string_view kUuidForm = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

// The positions of a short id's digits in a UUID: its groups from the last one on. UUIDs created at
// the same time share the beginning, never the end.
constexpr std::array<std::size_t, 32> kPlaces = {24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34,
                                                 35, 19, 20, 21, 22, 14, 15, 16, 17, 9,  10,
                                                 11, 12, 0,  1,  2,  3,  4,  5,  6,  7};

bool is_digit(char c) {
  return is_ascii_digit(c) || (c >= 'a' && c <= 'f');
}

std::size_t common_prefix(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
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
         (info.answering ? state_of(*info.answering) != OwnerState::alive : info.incomplete);
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

std::string short_id(const SessionId& id, std::size_t digits) {
  if (!is_uuid(id.str())) {
    return id.str();
  }
  std::string out;
  for (const std::size_t offset : std::span(kPlaces).first(std::min(digits, kPlaces.size()))) {
    out += id.str()[offset];
  }
  return out;
}

std::vector<std::string> short_ids(const std::vector<SessionId>& ids) {
  std::vector<std::string> all(ids.size());
  std::ranges::transform(ids, all.begin(),
                         [](const SessionId& id) { return short_id(id, kPlaces.size()); });
  std::vector<std::size_t> order(ids.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&all](std::size_t i) -> const std::string& { return all[i]; });
  std::vector<std::size_t> digits(ids.size(), kShortIdDigits);
  for (std::size_t i = 1; i < order.size(); ++i) {
    const std::size_t length = common_prefix(all[order[i - 1]], all[order[i]]) + 1;
    digits[order[i - 1]] = std::max(digits[order[i - 1]], length);
    digits[order[i]] = std::max(digits[order[i]], length);
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    all[i] = short_id(ids[i], digits[i]);
  }
  return all;
}

std::optional<std::string> short_id_pattern(std::string_view beginning, char any) {
  if (beginning.size() > kPlaces.size() || !std::ranges::all_of(beginning, is_digit)) {
    return std::nullopt;
  }
  std::string pattern(kUuidForm);
  std::ranges::replace(pattern, 'x', any);
  for (std::size_t i = 0; i < beginning.size(); ++i) {
    pattern[kPlaces[i]] = beginning[i];
  }
  return pattern;
}

}  // namespace reprise
