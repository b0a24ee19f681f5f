#pragma once

// The members of a session file beside the conversation and the signature.

#include <string>
#include <string_view>
#include <vector>

#include "store/document/file_session.h"
#include "store/sessions/members.h"
#include "store/sessions/signature.h"

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

}  // namespace reprise::store::sessions
