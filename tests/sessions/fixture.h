#pragma once

// A session file written by the original program, and small ones composed of parts.

#include "reprise/session.h"
#include "store/document/document_format.h"
#include "store/sessions/layout.h"
#include "store/sessions/session_json.h"

namespace reprise::test {

inline constexpr std::string_view kFixtureId = "3f2b8c1e-6d4a-4e0b-8a7c-5d9e1f2a3b4c";
// The fixture is signed with this secret on the host "fixture".
inline constexpr std::string_view kFixtureSecret =
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
std::string fixture();

// A file with all members, with the given `conversation` and additional members `more` (each with a
// comma before it).
std::string file_with(std::string_view conversation, std::string_view more = "");
std::string entry(std::string_view role, std::string_view content, std::string_view timestamp);

store::sessions::Location location(SessionState state = SessionState::closed);
// Errors end the test.
store::FileSession read(std::string_view json, SessionState state = SessionState::closed);
std::string written(store::FileSession session, const store::sessions::SigningKey* key = nullptr);
store::sessions::SigningKey fixture_key();

}  // namespace reprise::test
