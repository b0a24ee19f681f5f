#pragma once

// Parsing of slash commands. Pure functions.

#include <span>

#include "reprise/session.h"  // IWYU pragma: export

namespace reprise::cli {

enum class SlashVerb : std::uint8_t {
  help,
  title,
  model,
  provider,
  cost,
  copy,
  attach,
  system,
  fork,
  retry,
  rewind,
  go_on,
  todo,
  session,
  begin,  // another session in this chat
  resume,
  save,
  quit,
};

// The argument of a command.
enum class SlashArgument : std::uint8_t { none, text, count, file };

struct SlashCommand {
  SlashVerb verb;
  SlashArgument argument;
  std::string_view name;       // including the slash
  std::string_view arguments;  // "[TEXT]"; "" for none
  std::string_view help;       // one line
};

// In the order of /help.
std::span<const SlashCommand> slash_commands();

struct Slash {
  SlashVerb verb = SlashVerb::help;
  std::string text;                    // the argument, trimmed
  std::optional<std::int64_t> number;  // for SlashArgument::count
};

// Whether the input is a command: a first word of '/' and letters or hyphens. "/usr/bin is full" is
// a message, and so is anything that begins with "//".
bool is_slash(std::string_view input);

// invalid_argument for an unknown command (suggesting the nearest one) and for invalid arguments.
// Requires is_slash(input).
Result<Slash> parse_slash(std::string_view input);

// The text of a message: "//x" means "/x".
std::string_view message_of(std::string_view input);

// The text of /help: one line per command.
std::string slash_help();

// The arguments of /session.
struct SessionRequest {
  enum class Action : std::uint8_t { describe, open, list, go_to, rename, save, close };
  Action action = Action::describe;
  std::string text = {};  // the path, the name to open, the new name, or the tab to save
  std::string name = {};  // open: --name
};
Result<SessionRequest> parse_session_request(std::string_view text);

// The arguments of /resume.
struct ResumeRequest {
  enum class Action : std::uint8_t { list, open, remove, clear } action = Action::list;
  std::string sel = {};  // open, remove
};
Result<ResumeRequest> parse_resume_request(std::string_view text);

// The arguments of /todo.
struct TodoRequest {
  enum class Action : std::uint8_t { list, add, set } action = Action::list;
  std::string text = {};                    // to add
  std::size_t index = 0;                    // to set, from 0
  TodoStatus status = TodoStatus::pending;  // to set
};
Result<TodoRequest> parse_todo_request(std::string_view text);

// Adds or sets a todo. not_found if the list is shorter.
Result<> change_todos(std::vector<Todo>& todos, const TodoRequest& request);

}  // namespace reprise::cli
