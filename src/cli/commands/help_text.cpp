#include "cli/commands/help_text.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <variant>
#include <vector>

#include "base/terminal_text.h"
#include "base/text.h"

namespace reprise::cli {
namespace {

struct Row {
  std::string left;
  std::string right;
};

constexpr std::size_t kColumns = 80;
constexpr std::size_t kLeftMax = 28;
constexpr std::size_t kNameColumns = 11;   // the longest command's name
constexpr std::size_t kGroupColumns = 37;  // where a group's list of commands wraps

// Wraps words at the right edge and indents the following lines.
void append_wrapped(std::string& out, std::string_view text, std::size_t indent) {
  const std::size_t columns = kColumns - indent;
  std::string_view gap = "  ";
  const std::string below(indent, ' ');
  while (display_width(text) > columns) {
    const std::size_t fits = width_prefix(text, columns).size();
    const std::size_t blank = text.rfind(' ', fits);
    const std::size_t end = blank == std::string_view::npos || blank == 0 ? fits : blank;
    out += cat(gap, text.substr(0, end), "\n");
    text = trimmed(text.substr(end));
    gap = below;
  }
  out += cat(gap, text, "\n");
}

void append_rows(std::string& out, std::string_view heading, const std::vector<Row>& rows,
                 std::size_t width = 0) {
  if (rows.empty()) {
    return;
  }
  for (const Row& row : rows) {
    width = std::max(width, std::min(row.left.size(), kLeftMax));
  }
  out += cat("\n", heading, ":\n");
  for (const Row& row : rows) {
    out += cat("  ", row.left);
    if (row.left.size() > width) {
      out += cat("\n  ", std::string(width, ' '));
    } else {
      out += std::string(width - row.left.size(), ' ');
    }
    append_wrapped(out, row.right, width + 4);
  }
}

std::string option_left(const OptionSpec& option) {
  const std::string names = joined(split(option.names, ','));
  if (!names.starts_with("--") && !names.contains(',')) {
    return option.value.empty() ? names : cat(names, " ", option.value);
  }
  const std::string indent = names.starts_with("--") ? "    " : "";
  if (option.value.empty()) {
    return indent + names;
  }
  return option.value_optional ? cat(indent, names, " [", option.value, "]")
                               : cat(indent, names, " ", option.value);
}

std::vector<Row> option_rows(const ArgumentTable& table) {
  std::vector<Row> rows;
  rows.reserve(table.options.size());
  for (const OptionSpec& option : table.options) {
    rows.push_back({option_left(option), std::string(option.help)});
  }
  return rows;
}

// A group's commands and its description, on one or two lines.
std::string group_lines(std::span<const CommandEntry> commands, const GroupHelp& group) {
  std::vector<std::string> lines(1);
  for (const CommandEntry& entry : commands) {
    if (entry.hidden || entry.group != group.group) {
      continue;
    }
    if (lines.back().size() + entry.name.size() + 3 > kGroupColumns) {
      lines.back() += ",";
      lines.emplace_back();
    } else if (!lines.back().empty()) {
      lines.back() += ", ";
    }
    lines.back() += entry.name;
  }
  std::string out;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string gap(i == 0 ? kGroupColumns + 1 - std::min(kGroupColumns, lines[i].size()) : 0,
                          ' ');
    out += cat("  ", lines[i], gap, i == 0 ? group.heading : "", "\n");
  }
  return out;
}

}  // namespace

std::string version_line() {
  return "reprise " REPRISE_VERSION "\n";
}

std::string synopsis(std::string_view command, const ArgumentTable& table) {
  std::string out = cat("reprise ", command, table.options.empty() ? "" : " [OPTION…]");
  for (const ArgumentSpec& argument : table.arguments) {
    const bool many = std::holds_alternative<std::vector<std::string>*>(argument.target);
    const std::string name =
        cat(argument.name, many ? "…" : "", argument.last.empty() ? "" : " ", argument.last);
    out += argument.required ? cat(" ", name) : cat(" [", name, "]");
  }
  return out;
}

std::span<const GroupHelp> command_groups() {
  static constexpr GroupHelp kGroups[] = {
      {CommandGroup::ask, "ask a question, open the app, continue"},
      {CommandGroup::read, "find sessions and read them"},
      {CommandGroup::change, "change a session"},
      {CommandGroup::remove, "move sessions to the trash and back"},
      {CommandGroup::stores, "copy, check and back up sessions"},
      {CommandGroup::set_up, "providers, settings, shell"},
  };
  return kGroups;
}

std::string program_help(std::span<const CommandEntry> commands) {
  std::string out =
      "reprise stores conversations with language models and resumes them\n\n"
      "usage: reprise [COMMAND] [OPTION…]\n\n";
  for (const GroupHelp& group : command_groups()) {
    out += group_lines(commands, group);
  }
  out += R"(
examples:
  reprise                               open the app
  reprise ask 'Why is the sky blue?'    ask once, in a new session
  reprise ask -c 'And at night?'        continue the newest session here
  git diff | reprise ask 'Review this'  ask about piped input
  reprise list                          list the sessions of this folder
  reprise show last                     show the newest session

more: `reprise help COMMAND`, `reprise help --all`, `reprise man`
)";
  return out;
}

std::string full_help(std::span<const CommandEntry> commands) {
  std::string out = "usage: reprise [COMMAND] [OPTION…]\n";
  for (const GroupHelp& group : command_groups()) {
    std::vector<Row> rows;
    for (const CommandEntry& entry : commands) {
      if (!entry.hidden && entry.group == group.group) {
        rows.push_back({std::string(entry.name), std::string(entry.summary)});
      }
    }
    append_rows(out, group.heading, rows, kNameColumns);
  }
  Globals globals;
  append_rows(out, "options of every command", option_rows(global_arguments(globals)));
  out +=
      "\n`reprise help COMMAND` explains a command;\n`reprise man` (or `man reprise`) has the "
      "details\n";
  return out;
}

std::string example_lines(std::string_view examples) {
  std::string out;
  while (!examples.empty()) {
    const std::size_t end = std::min(examples.find('\n'), examples.size());
    out += cat("  ", examples.substr(0, end), "\n");
    examples.remove_prefix(std::min(end + 1, examples.size()));
  }
  return out;
}

std::string command_help(const CommandEntry& entry, const ArgumentTable& table) {
  std::string out = cat(entry.summary, "\n\nusage: ", synopsis(entry.name, table), "\n");
  std::vector<Row> rows;
  rows.reserve(table.arguments.size());
  for (const ArgumentSpec& argument : table.arguments) {
    rows.push_back({std::string(argument.name), std::string(argument.help)});
  }
  append_rows(out, "arguments", rows);
  append_rows(out, "options", option_rows(table));
  out += cat("\nexamples:\n", example_lines(entry.examples));
  Globals globals;
  append_rows(out, "options of every command", option_rows(global_arguments(globals)));
  return out;
}

}  // namespace reprise::cli
