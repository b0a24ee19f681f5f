#include "cli/repl/slash.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/terminal_text.h"
#include "base/text.h"

namespace reprise::cli {

namespace {

constexpr auto kSlashCommands = std::to_array<SlashCommand>({
    {SlashVerb::help, SlashArgument::none, "/help", "", "list the commands"},
    {SlashVerb::title, SlashArgument::text, "/title", "[TEXT]", "show or set the title"},
    {SlashVerb::model, SlashArgument::text, "/model", "[NAME]",
     "show the model, or switch to another one"},
    {SlashVerb::provider, SlashArgument::text, "/provider", "[NAME]",
     "show the provider, or switch to another one"},
    {SlashVerb::system, SlashArgument::text, "/system", "[TEXT]",
     "show or set the system prompt; '-' removes it"},
    {SlashVerb::retry, SlashArgument::none, "/retry", "", "ask the last question again"},
    {SlashVerb::go_on, SlashArgument::none, "/go-on", "", "continue an interrupted answer"},
    {SlashVerb::rewind, SlashArgument::count, "/rewind", "[N]",
     "take back the last N turns, by default one"},
    {SlashVerb::fork, SlashArgument::count, "/fork", "[SEQ]",
     "continue in a copy of the messages before SEQ, or of all"},
    {SlashVerb::todo, SlashArgument::text, "/todo", "[add|done|set]", "show or change the todos"},
    {SlashVerb::session, SlashArgument::text, "/session", "[new|list|switch|rename|save|close]",
     "show this session, or manage others"},
    {SlashVerb::begin, SlashArgument::none, "/new", "",
     "start a new session here; this one stays saved"},
    {SlashVerb::begin, SlashArgument::none, "/clear", "", "the same as /new"},
    {SlashVerb::resume, SlashArgument::text, "/resume", "[N|ID|list|delete T|clear]",
     "list the stored sessions, or resume one"},
    {SlashVerb::attach, SlashArgument::file, "/attach", "FILE",
     "attach a file to the next message; '-' removes it"},
    {SlashVerb::cost, SlashArgument::none, "/cost", "", "the tokens and cost of this session"},
    {SlashVerb::copy, SlashArgument::none, "/copy", "", "copy the last answer to the clipboard"},
    {SlashVerb::save, SlashArgument::file, "/save", "FILE", "write the transcript to a new file"},
    {SlashVerb::save, SlashArgument::file, "/export", "FILE", "the same as /save"},
    {SlashVerb::quit, SlashArgument::none, "/quit", "", "quit; everything is already saved"},
});

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
}

std::string_view first_word(std::string_view text) {
  return text.substr(0, std::min(text.find_first_of(" \t\r\n"), text.size()));
}

// The command with that name or the only one with that prefix ("/q"), or null.
const SlashCommand* find_slash_command(std::string_view name) {
  const SlashCommand* found = nullptr;
  for (const SlashCommand& command : kSlashCommands) {
    if (command.name == name) {
      return &command;
    }
    if (name.size() > 1 && command.name.starts_with(name)) {
      found = found == nullptr ? &command : nullptr;
      if (found == nullptr) {
        return nullptr;
      }
    }
  }
  return found;
}

Error unknown_slash(std::string_view name) {
  std::vector<std::string_view> names;
  std::vector<std::string_view> begun;
  for (const SlashCommand& command : kSlashCommands) {
    names.push_back(command.name);
    if (command.name.starts_with(name)) {
      begun.push_back(command.name);
    }
  }
  if (begun.size() > 1) {
    return {Code::invalid_argument, cat("'", name, "' is ambiguous: ", joined(begun)), 0};
  }
  const std::string_view suggestion = nearest(name, names);
  return {Code::invalid_argument,
          suggestion.empty()
              ? cat("unknown command '", name,
                    "'; /help lists the commands, and a message that starts with a slash needs two "
                    "(//)")
              : cat("unknown command '", name, "'; did you mean '", suggestion, "'?"),
          0};
}

std::optional<std::int64_t> parse_count(std::string_view text) {
  const auto value = parse_number<std::int64_t>(text);
  return value && *value >= 0 ? value : std::nullopt;
}

// Without the quotes around it, with which a shell would need a name that has blanks.
std::string_view unquoted(std::string_view text) {
  const bool is_quoted = text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
                         text.back() == text.front();
  return is_quoted ? text.substr(1, text.size() - 2) : text;
}

Result<Slash> with_argument(const SlashCommand& command, std::string_view argument) {
  Slash slash{command.verb, std::string(argument), std::nullopt};
  switch (command.argument) {
    case SlashArgument::none:
      if (!argument.empty()) {
        return fail(Code::invalid_argument, cat(command.name, " takes no argument"));
      }
      break;
    case SlashArgument::text:
      break;
    case SlashArgument::file:
      slash.text = unquoted(argument);
      if (slash.text.empty()) {
        return fail(Code::invalid_argument,
                    cat(command.name, " needs a file: ", command.name, " FILE"));
      }
      break;
    case SlashArgument::count:
      slash.number = parse_count(argument);
      if (!argument.empty() && !slash.number) {
        return fail(Code::invalid_argument,
                    cat(command.name, " takes a whole number, not '", argument, "'"));
      }
      break;
  }
  return slash;
}

}  // namespace

std::span<const SlashCommand> slash_commands() {
  return kSlashCommands;
}

bool is_slash(std::string_view input) {
  const std::string_view word = first_word(trimmed(input));
  return word.size() >= 2 && word[0] == '/' && std::ranges::all_of(word.substr(1), is_name_char);
}

Result<Slash> parse_slash(std::string_view input) {
  const std::string_view text = trimmed(input);
  const std::string_view word = first_word(text);
  const SlashCommand* command = find_slash_command(ascii_lower(word));
  if (command == nullptr) {
    return std::unexpected(unknown_slash(ascii_lower(word)));
  }
  return with_argument(*command, trimmed(text.substr(word.size())));
}

std::string_view message_of(std::string_view input) {
  return input.starts_with("//") ? input.substr(1) : input;
}

std::string slash_help() {
  constexpr std::size_t kWidth = 20;  // a longer usage has a line of its own
  std::string out;
  for (const SlashCommand& command : kSlashCommands) {
    std::string usage = cat(command.name, " ", command.arguments);
    if (usage.size() > kWidth) {
      out += cat("  ", std::exchange(usage, ""), "\n");
    }
    usage.resize(kWidth, ' ');
    out += cat("  ", usage, "  ", command.help, "\n");
  }
  return out;
}

Result<SessionRequest> parse_session_request(std::string_view text) {
  using Action = SessionRequest::Action;
  const std::string_view verb = first_word(text);
  std::string_view argument = trimmed(text.substr(verb.size()));
  SessionRequest out;
  if (verb == "new") {
    constexpr std::string_view kName = "--name";
    if (const std::size_t at = argument.find(kName); at != std::string_view::npos) {
      out.name = unquoted(trimmed(argument.substr(at + kName.size())));
      argument = trimmed(argument.substr(0, at));
    }
    argument = unquoted(argument);
    out.action = Action::open;
  } else if (verb == "list" && argument.empty()) {
    out.action = Action::list;
  } else if (verb == "switch" && !argument.empty()) {
    out.action = Action::go_to;
  } else if (verb == "rename" && !argument.empty()) {
    out.action = Action::rename;
  } else if (verb == "save") {
    out.action = Action::save;
  } else if (verb == "close" && argument.empty()) {
    out.action = Action::close;
  } else if (!verb.empty()) {
    return fail(Code::invalid_argument,
                "use /session, /session new [PATH] [--name NAME], list, switch N or NAME, "
                "rename NAME, save [N], or close");
  }
  out.text = argument;
  return out;
}

Result<ResumeRequest> parse_resume_request(std::string_view text) {
  using Action = ResumeRequest::Action;
  const std::string_view word = first_word(text);
  const std::string_view argument = trimmed(text.substr(word.size()));
  if (argument.empty() && (word.empty() || word == "list")) {
    return ResumeRequest{};
  }
  if (argument.empty() && word == "clear") {
    return ResumeRequest{.action = Action::clear};
  }
  if (word != "delete") {
    return ResumeRequest{.action = Action::open, .sel = std::string(text)};
  }
  if (argument.empty()) {
    return fail(Code::invalid_argument, "/resume delete needs a number, an id or a title");
  }
  return ResumeRequest{.action = Action::remove, .sel = std::string(argument)};
}

Result<TodoRequest> parse_todo_request(std::string_view text) {
  using Action = TodoRequest::Action;
  const std::string_view verb = first_word(text);
  const std::string_view argument = trimmed(text.substr(verb.size()));
  if (verb.empty() || (verb == "list" && argument.empty())) {
    return TodoRequest{};
  }
  if (verb == "add" && !argument.empty()) {
    return TodoRequest{.action = Action::add, .text = std::string(argument)};
  }
  const std::string_view number = first_word(argument);
  const std::string_view after = trimmed(argument.substr(number.size()));
  std::optional<TodoStatus> status;
  if (verb == "done" && after.empty()) {
    status = TodoStatus::completed;
  } else if (verb == "set") {
    status = parse_todo_status(after);
  }
  const auto index = parse_count(number);
  if (status && index && *index >= 1) {
    return TodoRequest{
        .action = Action::set, .index = static_cast<std::size_t>(*index - 1), .status = *status};
  }
  return fail(
      Code::invalid_argument,
      "use /todo, /todo add TEXT, /todo done N, or /todo set N STATUS (pending, in_progress "
      "or completed)");
}

Result<> change_todos(std::vector<Todo>& todos, const TodoRequest& request) {
  if (request.action == TodoRequest::Action::add) {
    todos.emplace_back().content = terminal_line(request.text);
    return {};
  }
  if (request.index >= todos.size()) {
    return fail(Code::not_found,
                cat("there is no todo ", request.index + 1, "; the list has ", todos.size()));
  }
  todos[request.index].status = request.status;
  return {};
}

}  // namespace reprise::cli
