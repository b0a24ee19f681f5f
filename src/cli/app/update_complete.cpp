// Tab completion of the input, and loading models for it.

#include <algorithm>

#include "base/text.h"
#include "base/utf8.h"
#include "choice/provider_names.h"
#include "cli/app/update.h"
#include "cli/repl/slash.h"

namespace reprise::cli::app {
namespace {

using Words = std::vector<std::string>;

Words command_words() {
  Words out;
  for (const SlashCommand& command : slash_commands()) {
    out.push_back(cat(command.name, command.arguments.empty() ? "" : " "));
  }
  return out;
}

Words session_words(const State& state, std::string_view verb) {
  Words out;
  if (verb == "switch" || verb == "save") {
    for (const Tab& tab : state.tabs) {
      out.push_back(tab_name(tab));
    }
  }
  return out;
}

// Candidates that may follow the complete words.
Words next_words(const State& state, std::string_view command, std::string_view argument) {
  const std::size_t blank = argument.find(' ');
  const bool first = blank == std::string_view::npos;
  const std::string_view verb = argument.substr(0, blank);
  if (command == "/session") {
    return first ? Words{"new ", "list", "switch ", "rename ", "save", "close"}
                 : session_words(state, verb);
  }
  if (command == "/resume" && first) {
    return {"list", "delete ", "clear"};
  }
  if (command == "/provider" && first) {
    const auto names = provider_names();
    return Words(names.begin(), names.end());
  }
  if (command == "/todo" && first) {
    return {"add ", "done ", "set ", "list"};
  }
  if (command == "/todo" && verb == "set") {
    return {"pending", "in_progress", "completed"};
  }
  if (command == "/model" && first && state.tab() != nullptr) {
    Words models = state.tab()->metadata.models;
    models.insert(models.end(), state.tab()->models.begin(), state.tab()->models.end());
    return models;
  }
  return {};
}

// The common prefix, ending at a whole character.
std::string common_beginning(const Words& words) {
  std::string_view out = words.front();
  for (const std::string& word : words) {
    const auto [end, other] = std::ranges::mismatch(out, word);
    out = out.substr(0, static_cast<std::size_t>(end - out.begin()));
  }
  return std::string(out.substr(0, utf8::valid_prefix(out)));
}

bool begins_word(std::string_view text, std::size_t at) {
  return at == 0 || std::string_view(" \t\n\x1a").contains(text[at - 1]);
}

// Completes `prefix` to `common`. A path with blanks is quoted; the quote is closed if the path is
// complete.
void insert_path(Editor& input, std::string_view prefix, std::string_view common,
                 bool is_complete) {
  const std::string before = input.text().substr(0, input.text().size() - prefix.size());
  const bool is_quoted = before.ends_with("@\"");
  const bool quotes = before.ends_with('@') && common.contains(' ');
  if (quotes && input.pastes().empty()) {
    return input.set(cat(before, "\"", common, is_complete ? "\"" : ""));
  }
  input.insert(cat(common.substr(prefix.size()), is_quoted && is_complete ? "\"" : ""));
}

// The path being typed, after '@' or as a command's file; nullopt otherwise.
std::optional<std::string> path_prefix(std::string_view text) {
  for (const std::string_view command : {"/attach ", "/save ", "/export "}) {
    if (text.starts_with(command)) {
      return std::string(text.substr(command.size()));
    }
  }
  if (const std::size_t quote = text.rfind("@\""); quote != std::string_view::npos) {
    const std::string_view path = text.substr(quote + 2);
    if (!path.contains('"') && begins_word(text, quote)) {
      return std::string(path);
    }
  }
  const std::size_t blank = text.find_last_of(" \t\n\x1a");
  const std::string_view word = blank == std::string_view::npos ? text : text.substr(blank + 1);
  return word.starts_with('@') ? std::optional(std::string(word.substr(1))) : std::nullopt;
}

}  // namespace

Completion complete(const State& state, std::string_view text) {
  Completion out{.text = std::string(text), .candidates = {}};
  if (!text.starts_with('/') || text.contains('\n')) {
    return out;
  }
  const std::size_t blank = text.find(' ');
  std::string_view before;
  Words words;
  if (blank == std::string_view::npos) {
    words = command_words();
  } else {
    const std::string_view command = text.substr(0, blank);
    const std::string_view argument = text.substr(blank + 1);
    words = next_words(state, command, argument);
    // Names of sessions may have blanks; all other arguments are single words.
    const bool names = command == "/session";
    const std::size_t last = names ? argument.find(' ') : argument.rfind(' ');
    before = text.substr(0, last == std::string_view::npos ? blank + 1 : blank + 1 + last + 1);
  }
  const std::string_view prefix = text.substr(before.size());
  std::erase_if(words, [prefix](const std::string& word) { return !word.starts_with(prefix); });
  std::ranges::sort(words);
  words.erase(std::unique(words.begin(), words.end()), words.end());
  if (words.empty()) {
    return out;
  }
  out.text = cat(before, common_beginning(words));
  if (words.size() > 1) {
    out.candidates = std::move(words);
  }
  return out;
}

void on_files(State& state, const FilesListed& listed) {
  Tab* const tab = state.tab();
  if (tab == nullptr || tab->id != listed.tab || path_prefix(tab->input.text()) != listed.prefix) {
    return;  // the input has changed meanwhile
  }
  if (listed.paths.empty()) {
    state.status = "no such file";
    return;
  }
  const std::string common = common_beginning(listed.paths);
  const bool is_complete = listed.paths.size() == 1 && !common.ends_with('/');
  if (common.size() > listed.prefix.size()) {
    return insert_path(tab->input, listed.prefix, common, is_complete);
  }
  state.status.clear();
  for (const std::string& path : listed.paths) {
    state.status += cat(state.status.empty() ? "" : "  ", path);
  }
}

void complete_input(State& state, Effects& effects) {
  Editor& input = state.input();
  if (input.cursor() != input.text().size()) {
    return;
  }
  if (const auto path = path_prefix(input.text()); path && state.tab() != nullptr) {
    effects.emplace_back(ListFiles{.tab = state.tab()->id, .prefix = *path});
    return;
  }
  if (!input.pastes().empty()) {
    return;
  }
  if (Tab* const tab = state.tab(); tab != nullptr && input.text().starts_with("/model ")) {
    tab->completing = input.text();
    if (!tab->has_requested_models) {
      tab->has_requested_models = true;
      effects.emplace_back(ListModels{.tab = tab->id});
    }
  }
  const Completion completion = complete(state, input.text());
  if (Tab* const tab = state.tab(); tab != nullptr) {
    tab->completed = completion.text;
  }
  if (completion.text != input.text()) {
    input.set(completion.text);
    return;
  }
  state.status.clear();
  for (const std::string& candidate : completion.candidates) {
    state.status += cat(state.status.empty() ? "" : "  ", trimmed(candidate));
  }
}

void on_models(State& state, const ModelsListed& listed, Effects& effects) {
  Tab* const tab = state.find(listed.tab);
  if (tab == nullptr) {
    return;
  }
  for (const std::string& model : listed.models) {
    if (std::ranges::find(tab->models, model) == tab->models.end()) {
      tab->models.push_back(model);
    }
  }
  // Ignored if the input has changed meanwhile.
  const std::string& text = tab->input.text();
  if (tab == state.tab() && !tab->completing.empty() &&
      (text == tab->completing || text == tab->completed)) {
    tab->input.set(std::string(tab->completing));
    complete_input(state, effects);
  }
}

}  // namespace reprise::cli::app
