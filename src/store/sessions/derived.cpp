// Derives members that the original program expects, and that Reprise does not store: they follow
// from the title and the messages.

#include <algorithm>

#include "base/grapheme.h"
#include "base/text.h"
#include "store/sessions/session_members.h"
#include "store/stored_session.h"

namespace reprise::store::sessions {
namespace {

constexpr std::size_t kNameCharactersMax = 50;

std::string shortened(std::string_view text) {
  return std::string(trimmed(grapheme_prefix(text, kNameCharactersMax)));
}

// "" if the message is not a prompt.
std::string prompt_in(const Message& message) {
  return message.role == role::kUser ? std::string(trimmed(plain_text(message))) : "";
}

}  // namespace

std::string name_of(const SessionInfo& info) {
  std::string title = shortened(info.title);
  if (!title.empty()) {
    return title;
  }
  std::filesystem::path path(info.working_dir);
  path = path.has_filename() ? path : path.parent_path();
  std::string folder = shortened(path.filename().native());
  if (folder.empty()) {
    folder = "untitled";
  }
  return folder;
}

std::vector<std::string> prompts_outside_history(const StoredSession& stored) {
  std::map<std::string_view, std::int64_t> left;
  for (const std::string& prompt : stored.session.prompt_history) {
    ++left[trimmed(prompt)];
  }
  std::vector<std::string> prompts;
  for (std::int64_t seq = 0; seq < stored.log->size(); ++seq) {
    std::string prompt = prompt_in(*stored.log->at(seq));
    const auto same = left.find(prompt);
    if (same != left.end() && same->second > 0) {
      --same->second;
    } else if (!prompt.empty()) {
      prompts.push_back(std::move(prompt));
    }
  }
  std::ranges::reverse(prompts);
  prompts.resize(std::min(prompts.size(), kPromptsMax));
  std::size_t bytes = 0;
  const auto is_too_much = [&bytes](const std::string& prompt) {
    bytes += prompt.size();
    return bytes > kPromptBytesMax;
  };
  prompts.erase(std::ranges::find_if(prompts, is_too_much), prompts.end());
  return prompts;
}

}  // namespace reprise::store::sessions
