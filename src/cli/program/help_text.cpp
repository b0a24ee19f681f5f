#include "cli/program/help_text.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <variant>
#include <vector>

#include "base/text.h"
#include "cli/commands/command.h"
#include "cli/program/arguments.h"

namespace reprise::cli {
namespace {

struct Row {
  std::string left;
  std::string right;
};

constexpr std::size_t kLeftMax = 28;

void append_rows(std::string& out, std::string_view heading, const std::vector<Row>& rows) {
  if (rows.empty()) {
    return;
  }
  std::size_t width = 0;
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
    out += cat("  ", row.right, "\n");
  }
}

std::string option_left(const OptionSpec& option) {
  std::string names(option.names);
  for (std::size_t at = names.find(','); at != std::string::npos; at = names.find(',', at + 1)) {
    names.insert(at + 1, " ");
  }
  if (!names.starts_with("--") && names.find(',') == std::string::npos) {
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

}  // namespace

std::string version_line() {
  return "reprise " REPRISE_VERSION "\n";
}

std::string synopsis(std::string_view command, const ArgumentTable& table) {
  std::string out = cat("reprise ", command, table.options.empty() ? "" : " [OPTION…]");
  for (const ArgumentSpec& argument : table.arguments) {
    const bool many = std::holds_alternative<std::vector<std::string>*>(argument.target);
    const std::string name = cat(argument.name, many ? "…" : "");
    out += argument.required ? cat(" ", name) : cat(" [", name, "]");
  }
  return out;
}

std::string program_help(std::span<const CommandEntry> commands) {
  std::string out =
      "reprise keeps conversations with language models\n\nusage: reprise [COMMAND] [OPTION…]\n";
  std::vector<Row> rows;
  for (const CommandEntry& entry : commands) {
    if (!entry.hidden) {
      rows.push_back({std::string(entry.name), std::string(entry.summary)});
    }
  }
  append_rows(out, "commands", rows);
  Globals globals;
  append_rows(out, "options of every command", option_rows(global_arguments(globals)));
  out += "\n`reprise help COMMAND` shows a command's own options.\n";
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
  Globals globals;
  append_rows(out, "options of every command", option_rows(global_arguments(globals)));
  return out;
}

}  // namespace reprise::cli
