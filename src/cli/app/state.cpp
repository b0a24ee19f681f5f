#include "cli/app/state.h"

#include <algorithm>
#include <filesystem>

#include "base/terminal_text.h"
#include "base/text.h"
#include "reprise/conversation.h"

namespace reprise::cli::app {

Tab* State::find(TabId id) {
  const auto found = std::ranges::find(tabs, id, &Tab::id);
  return found == tabs.end() ? nullptr : &*found;
}

std::string tab_name(const Tab& tab) {
  if (!tab.metadata.title.empty()) {
    return terminal_line(tab.metadata.title);
  }
  // Several tabs may have the same folder.
  const auto question = std::ranges::find(tab.entries, Entry::Kind::question, &Entry::kind);
  if (tab.oldest == Seq{} && question != tab.entries.end()) {
    if (const std::string name = title_from_prompt(question->text); !name.empty()) {
      return terminal_line(name);
    }
  }
  const std::string folder = std::filesystem::path(tab.metadata.folder).filename().string();
  return folder.empty() ? "new" : terminal_line(folder);
}

std::string short_path(const State& state, const std::string& path) {
  if (state.home.size() > 1 && path.starts_with(state.home) &&
      (path.size() == state.home.size() || path[state.home.size()] == '/')) {
    return cat("~", path.substr(state.home.size()));
  }
  return path;
}

bool State::dialog_has_keys() const {
  constexpr std::chrono::seconds kStillTyping{1};
  return !dialogs.empty() && !(dialogs.front().while_typing && now - typed_at < kStillTyping);
}

}  // namespace reprise::cli::app
