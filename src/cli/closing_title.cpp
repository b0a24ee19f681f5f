#include "cli/closing_title.h"

#include <optional>
#include <string>
#include <utility>

#include "reprise/conversation.h"

namespace reprise::cli {

std::optional<std::string> closing_title(const ClosingTitle& facts) {
  std::string from_prompt = title_from_prompt(facts.first_prompt);
  const bool makeshift =
      facts.title.empty() || facts.title == kInterruptedTitle || facts.title == from_prompt;
  if (facts.first_prompt.empty() || !makeshift) {
    return std::nullopt;
  }
  if (facts.interrupted) {
    return facts.title.empty() ? std::optional(std::string(kInterruptedTitle)) : std::nullopt;
  }
  if (facts.answered && facts.ask) {
    if (auto asked = facts.ask(); asked && !asked->empty()) {
      return *std::move(asked);
    }
  }
  if (from_prompt.empty() || facts.title == from_prompt) {
    return std::nullopt;
  }
  return from_prompt;
}

}  // namespace reprise::cli
