#include "cli/app/complete.h"

#include <algorithm>

#include "base/text.h"
#include "base/utf8.h"
#include "cli/repl/slash.h"
#include "cli/settings/provider_names.h"

namespace reprise::cli::app {
namespace {

using Words = std::vector<std::string>;

Words command_words() {
  Words out;
  for (const SlashCommand& command : slash_commands(Surface::screen)) {
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
Words next_words(const State& state, std::string_view command, std::string_view rest) {
  const std::size_t blank = rest.find(' ');
  const bool first = blank == std::string_view::npos;
  const std::string_view verb = rest.substr(0, blank);
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

}  // namespace

Completion complete(const State& state, std::string_view text) {
  Completion out{.text = std::string(text), .candidates = {}};
  if (!text.starts_with('/') || text.find('\n') != std::string_view::npos) {
    return out;
  }
  const std::size_t blank = text.find(' ');
  std::string_view before;
  Words words;
  if (blank == std::string_view::npos) {
    words = command_words();
  } else {
    const std::string_view command = text.substr(0, blank);
    const std::string_view rest = text.substr(blank + 1);
    words = next_words(state, command, rest);
    // Names of sessions may have blanks; all other arguments are single words.
    const bool names = command == "/session";
    const std::size_t last = names ? rest.find(' ') : rest.rfind(' ');
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

}  // namespace reprise::cli::app
