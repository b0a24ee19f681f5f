// reprise __complete -- WORD…: prints candidates for the last word, one per line, each with its
// help after a tab. ":files" and ":folders" request the shell's own completion. Prints nothing
// else.

#include <algorithm>
#include <array>
#include <iterator>

#include "base/terminal_text.h"
#include "cli/commands/command.h"
#include "cli/commands/completions.h"
#include "cli/commands/stores_around.h"
#include "cli/output/session_json.h"
#include "cli/program/store_opener.h"
#include "cli/provider/conversation_choice.h"
#include "cli/settings/config_keys.h"
#include "cli/settings/provider_names.h"
#include "provider/kinds.h"

namespace reprise::cli {
namespace {

using Rest = Completion::Rest;

constexpr std::size_t kSessionsMax = 200;

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
      std::string_view rest = option.names;
      while (!rest.empty()) {
        const std::size_t comma = std::min(rest.find(','), rest.size());
        if (rest.substr(0, comma) == name) {
          return &option;
        }
        rest.remove_prefix(std::min(comma + 1, rest.size()));
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
    context.console().divert([](Console::Kind, std::string_view) {});
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
    there.console().divert([](Console::Kind, std::string_view) {});
    print(context, complete(there, line, globals, current));
    return Exit::done;
  }

 private:
  static void print(Context& context, const Completion& completion) {
    for (const Candidate& candidate : completion.candidates) {
      context.console().out().write(cat(terminal_line(candidate.text),
                                        candidate.help.empty() ? "" : "\t",
                                        terminal_line(candidate.help), "\n"));
    }
    if (completion.rest != Rest::nothing) {
      context.console().out().write(completion.rest == Rest::files ? ":files\n" : ":folders\n");
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
    for (const CommandEntry& entry : all_commands()) {
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

  static Completion of(const std::vector<std::string_view>& texts) {
    Completion out;
    for (const std::string_view text : texts) {
      out.candidates.push_back({std::string(text)});
    }
    return out;
  }

  static Completion values(Context& context, const Line& line, const OptionSpec& option) {
    if (option.value == "SEL") {
      return sessions(context, line);
    }
    if (option.names == "--store") {
      return stores(context);
    }
    if (option.value == "FILE") {
      return {.rest = Rest::files};
    }
    if (option.names == "--mode") {
      return modes(context);
    }
    if (option.names == "--tools") {
      return tools(line.prefix);
    }
    return option.names == "--provider"
               ? providers(context)
               : of(option.choices.empty() ? option.offered : option.choices);
  }

  static Completion providers(Context& context) {
    Completion out = of(provider_names());
    if (const auto settings = context.config().settings()) {
      for (const auto& [name, provider] : (*settings)->providers) {
        out.candidates.push_back({name});
      }
    }
    return out;
  }

  // The names after the last comma of the word.
  static Completion tools(std::string_view word) {
    const std::string before(word.substr(0, word.rfind(',') + 1));
    Completion out;
    if (before.empty()) {
      out = of({"all", "none"});
    }
    if (const auto all = choose_tools("all")) {
      for (const ToolSpec& tool : all->specs()) {
        out.candidates.push_back({cat(before, tool.name)});
      }
    }
    out.candidates.push_back({cat(before, "recall:all")});
    return out;
  }

  static Completion argument(Context& context, const Line& line, const std::string& current) {
    const auto& arguments = line.table.arguments;
    if (arguments.empty()) {
      return {};
    }
    const ArgumentSpec& spec = arguments[std::min(line.words.size(), arguments.size() - 1)];
    if (!spec.choices.empty()) {
      return of(spec.choices);
    }
    if (line.entry->name == "config") {
      return setting(context, line);
    }
    if (spec.name == "SOURCE") {
      Completion out = tool_histories();
      out.rest = Rest::files;
      return out;
    }
    if (spec.name == "SEL") {
      return sessions(context, line);
    }
    if (line.entry->name == "todo") {
      const bool is_status = line.words.size() == 3 && line.words[1] == "set";
      return is_status ? of({"pending", "in_progress", "completed"}) : Completion{};
    }
    if (spec.name == "COMMAND") {
      return commands();
    }
    if (spec.name == "SRC" || spec.name == "DST") {
      return stores(context);
    }
    if (spec.name == "FILE") {
      return {.rest = Rest::files};
    }
    if (spec.name == "PATH") {
      return {.rest = Rest::folders};
    }
    return current.empty() ? Completion{} : Completion{.rest = Rest::files};
  }

  static Completion setting(Context& context, const Line& line) {
    const std::string& action = line.words.front();
    if (action == "trust") {
      return {.rest = Rest::folders};
    }
    if (action == "set" && line.words.size() == 2) {
      return setting_value(context, line.words.back());
    }
    if (line.words.size() > 1 || (action != "get" && action != "set")) {
      return {};
    }
    Completion out;
    for (const ConfigKey& key : config_keys()) {
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
    const ConfigKey& key = *path->key;
    if (path->section == Section::top && key.name == "provider") {
      return providers(context);
    }
    if (path->section == Section::top && key.name == "store") {
      return stores(context);
    }
    if (!key.choices.empty()) {
      return of(key.choices);
    }
    return expected_value(key) == "true or false" ? of({"true", "false"}) : Completion{};
  }

  static Completion modes(Context& context) {
    Completion out;
    if (const auto settings = context.config().settings()) {
      for (const auto& [name, mode] : (*settings)->modes) {
        out.candidates.push_back({name, mode.system.substr(0, mode.system.find('\n'))});
      }
    }
    return out;
  }

  static Completion tool_histories() {
    Completion out;
    for (const SourceKind& kind : source_kinds()) {
      out.candidates.push_back({cat(kind.name, ":"), std::string(kind.title)});
    }
    return out;
  }

  static Completion stores(Context& context) {
    Completion out;
    for (const StoreKind& kind : store_kinds()) {
      out.candidates.push_back(
          {cat(kind.name, kind.place == StoreKind::Place::server ? "://" : ":")});
    }
    std::ranges::move(tool_histories().candidates, std::back_inserter(out.candidates));
    // Paths in this folder are relative to it.
    const std::string here = context.config().working_dir().native() + "/";
    for (std::string& url : find_stores_around(context)) {
      const std::size_t path = url.find(':') + 1;
      if (url.compare(path, here.size(), here) == 0) {
        url.erase(path, here.size());
      }
      out.candidates.push_back({std::move(url)});
    }
    out.rest = Rest::files;
    return out;
  }

  // Adds sessions of the whole store whose title or id starts with `prefix`.
  static void add_matching(Source& source, const std::string& prefix, SessionQuery query,
                           SessionPage& page) {
    if (prefix.empty()) {
      return;
    }
    query.working_dir.reset();
    SessionQuery by_id = query;
    by_id.short_id_prefix = ascii_lower(prefix);
    query.title_contains = prefix;
    for (const SessionQuery& one : {query, by_id}) {
      auto found = source.list(one);
      for (SessionInfo& info : found ? found->sessions : std::vector<SessionInfo>()) {
        const bool is_new =
            std::ranges::find(page.sessions, info.id, &SessionInfo::id) == page.sessions.end();
        const bool fits = one.title_contains.empty() || info.title.starts_with(prefix);
        if (is_new && fits) {
          page.sessions.push_back(std::move(info));
        }
      }
    }
  }

  // "claude:" of "claude:Tit", for commands that continue sessions of other tools; else "".
  static std::string tool_of(const Line& line) {
    const std::string tool = line.prefix.substr(0, line.prefix.find(':') + 1);
    constexpr std::array<std::string_view, 3> kContinue = {"ask", "chat", "resume"};
    const bool continues =
        line.entry != nullptr && std::ranges::find(kContinue, line.entry->name) != kContinue.end();
    const bool is_tool = std::ranges::any_of(
        source_kinds(), [&](const SourceKind& kind) { return tool == cat(kind.name, ":"); });
    return continues && is_tool ? tool : "";
  }

  // Titles and short ids: this folder's newest sessions, and matching ones of the whole store.
  static Completion sessions(Context& context, const Line& line) {
    const std::string tool = tool_of(line);
    Completion out{.candidates = {{cat(tool, "last"), "the newest session of this folder"}}};
    const auto of_tool = tool.empty() ? Result<std::unique_ptr<Source>>(nullptr)
                                      : context.stores().open_source_at(tool);
    const auto source = !of_tool       ? std::unexpected(of_tool.error())
                        : tool.empty() ? context.stores().source()
                                       : Result<Source*>(of_tool->get());
    if (!source) {
      return out;
    }
    SessionQuery query{.limit = kSessionsMax};
    if ((*source)->capabilities().many_folders) {
      query.working_dir = context.config().project();
    }
    query.states = {SessionState::active, SessionState::closed};
    if (line.entry != nullptr && line.entry->name == "restore") {
      query.states = {SessionState::trashed, SessionState::archived};
    }
    auto page = (*source)->list(query);
    if (!page) {
      return out;
    }
    add_matching(**source, line.prefix.substr(tool.size()), query, *page);
    const std::vector<std::string> ids = short_ids_of(page->sessions);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (const std::string& title = page->sessions[i].title; !title.empty()) {
        out.candidates.push_back({cat(tool, title), ids[i]});
      }
    }
    for (std::size_t i = 0; i < ids.size(); ++i) {
      out.candidates.push_back({cat(tool, ids[i]), page->sessions[i].title});
    }
    return out;
  }

  std::vector<std::string> words_;
};

}  // namespace

std::unique_ptr<Command> make_complete() {
  return std::make_unique<Complete>();
}

}  // namespace reprise::cli
