#include "cli/program/completions.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/text.h"
#include "cli/commands/command.h"
#include "cli/program/arguments.h"

namespace reprise::cli {
namespace {

std::vector<std::string_view> split_names(std::string_view names) {
  std::vector<std::string_view> out;
  while (!names.empty()) {
    const std::size_t comma = std::min(names.find(','), names.size());
    out.push_back(names.substr(0, comma));
    names.remove_prefix(std::min(comma + 1, names.size()));
  }
  return out;
}

std::string join(const std::vector<std::string_view>& words, std::string_view gap) {
  std::string out;
  for (const std::string_view word : words) {
    out += cat(out.empty() ? "" : gap, word);
  }
  return out;
}

// Inside single quotes of a shell.
std::string single_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return out + "'";
}

// Calls visit(entry, table) for each command that is shown, with its own and the global options.
template <class Visit>
void each_command(std::span<const CommandEntry> commands, Visit visit) {
  for (const CommandEntry& entry : commands) {
    if (entry.hidden) {
      continue;
    }
    const std::unique_ptr<Command> command = entry.make();
    ArgumentTable table = command->arguments();
    Globals globals;
    for (const OptionSpec& option : global_arguments(globals).options) {
      table.options.push_back(option);
    }
    visit(entry, table);
  }
}

std::string names_of(std::span<const CommandEntry> commands) {
  std::vector<std::string_view> names;
  for (const CommandEntry& entry : commands) {
    if (!entry.hidden) {
      names.push_back(entry.name);
    }
  }
  return join(names, " ");
}

// What may stand as an option's value, or often does; none where that is not known.
const std::vector<std::string_view>& offered(const OptionSpec& option) {
  return option.choices.empty() ? option.offered : option.choices;
}

std::string zsh_option(const OptionSpec& option) {
  const auto names = split_names(option.names);
  std::string help(option.help);
  std::ranges::replace(help, '[', '(');
  std::ranges::replace(help, ']', ')');
  std::ranges::replace(help, ':', ',');
  std::string value;
  if (!option.value.empty()) {
    value = cat(option.value_optional ? "::" : ":", option.value, ":",
                !offered(option).empty() ? cat("(", join(offered(option), " "), ")")
                : option.value == "FILE" ? "_files"
                                         : " ");
  }
  std::string out;
  for (const std::string_view name : names) {
    out += cat(" \\\n        ", single_quoted(cat("*", name, "[", help, "]", value)));
  }
  return out;
}

std::string fish_option(const CommandEntry& entry, const OptionSpec& option) {
  std::string out = cat("complete -c reprise -n '__fish_seen_subcommand_from ", entry.name, "'");
  for (const std::string_view name : split_names(option.names)) {
    out += name.starts_with("--") ? cat(" -l ", name.substr(2)) : cat(" -s ", name.substr(1));
  }
  if (!option.value.empty() && !option.value_optional) {
    out += option.value == "FILE" ? " -rF" : " -x";
  }
  if (!offered(option).empty()) {
    out += cat(" -a ", single_quoted(join(offered(option), " ")));
  }
  return cat(out, " -d ", single_quoted(option.help), "\n");
}

}  // namespace

std::string bash_completions(std::span<const CommandEntry> commands) {
  std::string flags;
  std::string values;
  each_command(commands, [&](const CommandEntry& entry, const ArgumentTable& table) {
    std::vector<std::string_view> names;
    for (const OptionSpec& option : table.options) {
      const auto own = split_names(option.names);
      names.insert(names.end(), own.begin(), own.end());
      for (const std::string_view name : own) {
        if (!offered(option).empty()) {
          values += cat("    ", entry.name, ":", name,
                        ") words=", single_quoted(join(offered(option), " ")), " ;;\n");
        } else if (option.value == "FILE") {
          values += cat("    ", entry.name, ":", name,
                        ") COMPREPLY=($(compgen -f -- \"$current\")); return ;;\n");
        }
      }
    }
    std::vector<std::string_view> choices;
    for (const ArgumentSpec& argument : table.arguments) {
      choices.insert(choices.end(), argument.choices.begin(), argument.choices.end());
    }
    flags += cat("    ", entry.name, ") flags=", single_quoted(join(names, " ")),
                 " words=", single_quoted(join(choices, " ")), " ;;\n");
  });
  return cat(
      "# bash completion for reprise\n_reprise() {\n  local current previous command word "
      "flags='' words=''\n  current=${COMP_WORDS[COMP_CWORD]}\n"
      "  previous=${COMP_WORDS[COMP_CWORD-1]}\n  command=''\n"
      "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
      "    case $word in -*) ;; *) command=$word; break ;; esac\n  done\n"
      "  if [[ -z $command ]]; then\n    COMPREPLY=($(compgen -W '",
      names_of(commands), "' -- \"$current\"))\n    return\n  fi\n  case $command in\n", flags,
      "  esac\n  case $command:$previous in\n", values,
      "  esac\n  if [[ $current == -* ]]; then words=$flags; fi\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "}\ncomplete -o default -F _reprise reprise\n");
}

std::string zsh_completions(std::span<const CommandEntry> commands) {
  std::string names;
  std::string cases;
  each_command(commands, [&](const CommandEntry& entry, const ArgumentTable& table) {
    names += cat("    ", single_quoted(cat(entry.name, ":", entry.summary)), "\n");
    std::string options;
    for (const OptionSpec& option : table.options) {
      options += zsh_option(option);
    }
    for (const ArgumentSpec& argument : table.arguments) {
      options += cat(" \\\n        ",
                     single_quoted(cat("*:", argument.name, ":",
                                       argument.choices.empty()
                                           ? std::string("_default")
                                           : cat("(", join(argument.choices, " "), ")"))));
      break;  // one rule for words without a dash: zsh takes no two of them
    }
    cases += cat("      ", entry.name, ")\n      _arguments -S", options, " ;;\n");
  });
  return cat("#compdef reprise\n_reprise() {\n  local -a commands\n  commands=(\n", names,
             "  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n"
             "  fi\n  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n"
             "  case $command in\n",
             cases, "  esac\n}\n_reprise \"$@\"\n");
}

std::string fish_completions(std::span<const CommandEntry> commands) {
  std::string out = "# fish completion for reprise\ncomplete -c reprise -f\n";
  each_command(commands, [&](const CommandEntry& entry, const ArgumentTable& table) {
    out += cat("complete -c reprise -n __fish_use_subcommand -a ", entry.name, " -d ",
               single_quoted(entry.summary), "\n");
    for (const OptionSpec& option : table.options) {
      out += fish_option(entry, option);
    }
    for (const ArgumentSpec& argument : table.arguments) {
      if (!argument.choices.empty()) {
        out += cat("complete -c reprise -n '__fish_seen_subcommand_from ", entry.name, "' -a ",
                   single_quoted(join(argument.choices, " ")), "\n");
      }
    }
  });
  return out;
}

}  // namespace reprise::cli
