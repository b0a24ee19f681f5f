// Tab completion of the input, and loading models for it.

#include <algorithm>

#include "base/text.h"
#include "base/utf8.h"
#include "cli/app/complete.h"
#include "cli/app/update.h"

namespace reprise::cli::app {
namespace {

bool begins_word(std::string_view text, std::size_t at) {
  return at == 0 || std::string_view(" \t\n\x1a").find(text[at - 1]) != std::string_view::npos;
}

// Completes `prefix` to `common`. A path with blanks is quoted; the quote is closed if the path is
// `whole`.
void insert_path(Editor& input, std::string_view prefix, std::string_view common, bool whole) {
  const std::string before = input.text().substr(0, input.text().size() - prefix.size());
  const bool is_quoted = before.ends_with("@\"");
  const bool quotes = before.ends_with('@') && common.find(' ') != std::string_view::npos;
  if (quotes && input.pastes().empty()) {
    return input.set(cat(before, "\"", common, whole ? "\"" : ""));
  }
  input.insert(cat(common.substr(prefix.size()), is_quoted && whole ? "\"" : ""));
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
    if (path.find('"') == std::string_view::npos && begins_word(text, quote)) {
      return std::string(path);
    }
  }
  const std::size_t blank = text.find_last_of(" \t\n\x1a");
  const std::string_view word = blank == std::string_view::npos ? text : text.substr(blank + 1);
  return word.starts_with('@') ? std::optional(std::string(word.substr(1))) : std::nullopt;
}

}  // namespace

void on_files(State& state, const FilesListed& listed) {
  Tab* const tab = state.tab();
  if (tab == nullptr || tab->id != listed.tab || path_prefix(tab->input.text()) != listed.prefix) {
    return;  // the input has changed meanwhile
  }
  if (listed.paths.empty()) {
    state.status = "no such file";
    return;
  }
  std::string_view common = listed.paths.front();
  for (const std::string& path : listed.paths) {
    const auto [end, other] = std::ranges::mismatch(common, path);
    common = common.substr(0, static_cast<std::size_t>(end - common.begin()));
  }
  common = common.substr(0, utf8::valid_prefix(common));
  const bool is_whole = listed.paths.size() == 1 && !common.ends_with('/');
  if (common.size() > listed.prefix.size()) {
    return insert_path(tab->input, listed.prefix, common, is_whole);
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
