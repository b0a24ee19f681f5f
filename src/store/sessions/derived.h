#pragma once

// What the original looks for in members of its own, and Reprise says elsewhere: they follow from
// the title and the messages.

#include "store/stored_session.h"

namespace reprise::store::sessions {

// The title as the original takes it: of 1 to 50 characters. Without one it is the folder's name.
std::string name_of(const SessionInfo& info);

inline constexpr std::string_view kPrompts = "prompt_history";
// The original keeps this many prompts. Those that are derived have a limit of bytes besides: they
// stand in the file twice.
inline constexpr std::size_t kPromptsMax = 100;
inline constexpr std::size_t kPromptBytesMax = std::size_t{1} << 18;

// The user's messages that the prompt history does not have, the newest first. It has as many equal
// ones as stand in it, the oldest messages first.
std::vector<std::string> prompts_beside(const StoredSession& stored);

}  // namespace reprise::store::sessions
