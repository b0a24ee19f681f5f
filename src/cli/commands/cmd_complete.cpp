// reprise __complete -- WORD…: prints candidates for the last word, one per line, each with its
// help after a tab. ":files" and ":folders" request the shell's own completion. Prints nothing
// else.

#include <algorithm>

#include "base/terminal_text.h"
#include "choice/provider_names.h"
#include "cli/commands/command.h"
#include "cli/commands/completions.h"
#include "cli/program/store_opener.h"
#include "cli/provider/request_choice.h"
#include "cli/settings/config_keys.h"

namespace reprise::cli {
namespace {

using ShellPaths = Completion::ShellPaths;

// The parsed command line.
struct Line {
  const CommandEntry* entry = nullptr;
  std::unique_ptr<Command> command;
  ArgumentTable table;               // the command's
  Globals globals;                   // global flags
  const OptionSpec* open = nullptr;  // an option whose value is the last word
  std::vector<std::string> words;    // the command's arguments
  bool only_words = false;           // after "--"
  std::string prefix = {};           // the last word, to be completed
};

const OptionSpec* find_option(const ArgumentTable& globals, const ArgumentTable& own,
                              std::string_view name) {
  for (const ArgumentTable* table : {&globals, &own}) {
    for (const OptionSpec& option : table->options) {
      if (option.has_name(name)) {
        return &option;
      }
    }
  }
  return nullptr;
}

void set_command(Line& line, std::string_view name) {
  line.entry = find_command(name);
  if (line.entry != nullptr) {
    line.command = line.entry->make();
    line.table = line.command->arguments();
  }
}

void take_global(Line& line, const OptionSpec& option, std::string_view value) {
  if (option.names == "--store") {
    line.globals.store = std::string(value);
  } else if (option.names == "--config") {
    line.globals.config = std::string(value);
  }
}

// Parses all words but the last.
void read(Line& line, const ArgumentTable& globals, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (line.open != nullptr) {
      take_global(line, *std::exchange(line.open, nullptr), word);
    } else if (word == "--" && !line.only_words) {
      line.only_words = true;
    } else if (word.starts_with('-') && word.size() > 1 && !line.only_words) {
      const std::size_t equals = word.find('=');
      const OptionSpec* const option =
          find_option(globals, line.table, std::string_view(word).substr(0, equals));
      if (option == nullptr || option->value.empty()) {
        continue;
      }
      if (equals == std::string::npos) {
        line.open = option;
      } else {
        take_global(line, *option, std::string_view(word).substr(equals + 1));
      }
    } else if (line.entry == nullptr) {
      set_command(line, word);
    } else {
      line.words.push_back(word);
    }
  }
}

class Complete final : public Command {
 public:
  ArgumentTable arguments() override {
    return {.options = {}, .arguments = {{"WORD", "the words of the command line", &words_}}};
  }

  Result<Exit> run(Context& context) override {
    context.console().set_sink([](Console::Kind, std::string_view) {});
    const std::string current = words_.empty() ? "" : words_.back();
    if (!words_.empty()) {
      words_.pop_back();
    }
    Globals defaults;
    const ArgumentTable globals = global_arguments(defaults);
    Line line;
    read(line, globals, words_);
    line.globals.quiet = true;
    line.prefix = current;
    Context there(line.globals, context.environment(), context.console().out(),
                  context.console().err());
    there.console().set_sink([](Console::Kind, std::string_view) {});
    print(context, complete(there, line, globals, current));
    return Exit::success;
  }

 private:
  static void print(Context& context, const Completion& completion) {
    for (const Candidate& candidate : completion.candidates) {
      context.console().out().write(cat(terminal_line(candidate.text),
                                        candidate.help.empty() ? "" : "\t",
                                        terminal_line(candidate.help), "\n"));
    }
    if (completion.shell_paths != ShellPaths::none) {
      context.console().out().write(completion.shell_paths == ShellPaths::files ? ":files\n"
                                                                                : ":folders\n");
    }
  }

  static Completion complete(Context& context, Line& line, const ArgumentTable& globals,
                             const std::string& current) {
    if (line.open != nullptr) {
      return values(context, line, *line.open);
    }
    if (current.starts_with('-') && !line.only_words) {
      const std::size_t equals = current.find('=');
      if (equals == std::string::npos) {
        return options(globals, line.table);
      }
      const OptionSpec* const option =
          find_option(globals, line.table, std::string_view(current).substr(0, equals));
      Completion out = option == nullptr ? Completion{} : values(context, line, *option);
      for (Candidate& candidate : out.candidates) {
        candidate.text.insert(0, current, 0, equals + 1);
      }
      return out;
    }
    return line.entry == nullptr ? commands() : argument(context, line, current);
  }

  static Completion commands() {
    Completion out;
    for (const CommandEntry& entry : command_table()) {
      if (!entry.hidden) {
        out.candidates.push_back({std::string(entry.name), std::string(entry.summary)});
      }
    }
    return out;
  }

  static Completion options(const ArgumentTable& globals, const ArgumentTable& own) {
    Completion out;
    for (const ArgumentTable* table : {&own, &globals}) {
      for (const OptionSpec& option : table->options) {
        const std::size_t last = option.names.rfind(',');
        out.candidates.push_back(
            {std::string(option.names.substr(last == std::string_view::npos ? 0 : last + 1)),
             std::string(option.help)});
      }
    }
    return out;
  }

  static Completion values(Context& context, const Line& line, const OptionSpec& option) {
    if (option.value == "SEL") {
      return complete_sessions(context, line.entry, line.prefix);
    }
    if (option.names == "--store") {
      return complete_stores(context);
    }
    if (option.value == "FILE") {
      return {.shell_paths = ShellPaths::files};
    }
    if (option.value == "OLD") {
      return {.shell_paths = ShellPaths::folders};
    }
    if (option.names == "--mode") {
      return complete_modes(context);
    }
    if (option.names == "--tools") {
      return complete_tools(line.prefix);
    }
    return option.names == "--provider"
               ? complete_providers(context)
               : complete_one_of(option.choices.empty() ? option.offered : option.choices);
  }

  static Completion argument(Context& context, const Line& line, const std::string& current) {
    const auto& arguments = line.table.arguments;
    if (arguments.empty()) {
      return {};
    }
    const ArgumentSpec& spec = arguments[std::min(line.words.size(), arguments.size() - 1)];
    if (!spec.choices.empty()) {
      return complete_one_of(spec.choices);
    }
    if (line.entry->name == "config") {
      return setting(context, line);
    }
    if (spec.name == "SOURCE") {
      Completion out = complete_histories();
      out.shell_paths = ShellPaths::files;
      return out;
    }
    if (spec.name == "SEL") {
      Completion out = complete_sessions(context, line.entry, line.prefix);
      out.shell_paths = spec.last == "FOLDER" ? ShellPaths::folders : out.shell_paths;
      return out;
    }
    if (line.entry->name == "todo") {
      const bool is_status = line.words.size() == 3 && line.words[1] == "set";
      return is_status ? complete_one_of({"pending", "in_progress", "completed"}) : Completion{};
    }
    if (spec.name == "COMMAND") {
      return commands();
    }
    if (spec.name == "SRC" || spec.name == "DST") {
      return complete_stores(context);
    }
    if (spec.name == "FILE") {
      return {.shell_paths = ShellPaths::files};
    }
    if (spec.name == "PATH") {
      return {.shell_paths = ShellPaths::folders};
    }
    return current.empty() ? Completion{} : Completion{.shell_paths = ShellPaths::files};
  }

  static Completion setting(Context& context, const Line& line) {
    const std::string& action = line.words.front();
    if (action == "trust") {
      return {.shell_paths = ShellPaths::folders};
    }
    if (action == "set" && line.words.size() == 2) {
      return setting_value(context, line.words.back());
    }
    if (line.words.size() > 1 || (action != "get" && action != "set")) {
      return {};
    }
    Completion out;
    for (const Setting& key : config_keys()) {
      if (key.is_in(Section::top)) {
        out.candidates.push_back({std::string(key.name), std::string(key.help)});
      }
    }
    return out;
  }

  static Completion setting_value(Context& context, const std::string& name) {
    const auto path = parse_key_path(name);
    if (!path) {
      return {};
    }
    const Setting& key = *path->key;
    if (path->section == Section::top && key.name == "provider") {
      return complete_providers(context);
    }
    if (path->section == Section::top && key.name == "store") {
      return complete_stores(context);
    }
    if (!key.check.choices.empty()) {
      return complete_one_of(key.check.choices);
    }
    return expected_value(key) == "true or false" ? complete_one_of({"true", "false"})
                                                  : Completion{};
  }

  std::vector<std::string> words_;
};

}  // namespace

std::unique_ptr<Command> make_complete() {
  return std::make_unique<Complete>();
}

}  // namespace reprise::cli
