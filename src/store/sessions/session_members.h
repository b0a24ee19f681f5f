#pragma once

// The members of a session file beside the conversation and the signature.

#include <string>
#include <string_view>
#include <vector>

#include "store/document/file_session.h"
#include "store/sessions/members.h"
#include "store/sessions/signature.h"
#include "store/stored_session.h"

namespace reprise::store::sessions {

// As they are written: those that another program spelled and nobody has changed stay as they were.
Members file_members(const FileSession& file, const SigningKey* key);

// A member as it stands in the file.
struct RawMember {
  std::string name;
  std::string_view json;
};
// Remembers those that would be written otherwise.
void note_spelling(FileSession& file, const std::vector<RawMember>& members);

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
