#pragma once

// The members of a session file except the conversation and the signature.

#include <string>
#include <string_view>
#include <vector>

#include "reprise/session.h"
#include "store/sessions/signature.h"
#include "store/sessions/spelling.h"

namespace reprise::store {
struct FileSession;
struct StoredSession;
}  // namespace reprise::store

namespace reprise::store::sessions {

// The members to be written; unchanged members of another program keep their spelling.
Members file_members(const FileSession& file, const SigningKey* key);

// A member of the file as raw JSON.
struct RawMember {
  std::string name;
  std::string_view json;
};
// Records the members that we would spell differently.
void record_spelling(FileSession& file, const std::vector<RawMember>& members);

// The title in a form that the original accepts: 1 to 50 characters. Defaults to the name of the
// folder.
std::string name_of(const SessionInfo& info);

inline constexpr std::string_view kPrompts = "prompt_history";
// The number of prompts that the original keeps. Derived ones are also limited in bytes, because
// they are in the file twice.
inline constexpr std::size_t kPromptsMax = 100;
inline constexpr std::size_t kPromptBytesMax = std::size_t{1} << 18;

// The user's messages that are not in the prompt history, newest first. Of equal messages, the
// oldest ones are matched with the history.
std::vector<std::string> prompts_outside_history(const StoredSession& stored);

}  // namespace reprise::store::sessions
