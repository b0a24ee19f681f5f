#pragma once

// A session file, both ways. docs/formats/sessions.md says what is in one.
//
//  (1) What was read is written back as it was: messages that nobody changed keep their bytes,
//      unknown members their value and its spelling.
//  (2) A file of ours says in its member `reprise` how many messages it has, and then they are in
//      their order. In all others the time decides: the original writes the newest first, and mixes
//      them when it resumes a session.
//  (3) Where the file is says what state the session has; its content only tells apart what the
//      places do not.

#include <array>

#include "reprise/session.h"
#include "store/document/file_session.h"
#include "store/sessions/signature.h"

namespace reprise::store::sessions {

// What the file's place says.
struct Placed {
  SessionId id;
  SessionState state;
  SessionState before = SessionState::active;  // of one in the trash

  // In use when the trash does not count.
  bool is_open() const {
    return (state == SessionState::trashed ? before : state) == SessionState::active;
  }
};

// corrupt for what is no session file, unsupported for one of a later version. All else that cannot
// be read is in the session's `damage`.
Result<FileSession> read_session(const Placed& placed, std::string_view json);

// The members and messages of a file that was cut, as a file of their own; "" when there are none.
std::string before_cut(std::string_view json);

// Signed with `key`, or not at all when it is null. Brings `encoded` up to date.
Result<std::string> write_session(FileSession& file, const SigningKey* key);

// The members that are understood; all others are the session's `extra`.
inline constexpr std::array<std::string_view, 14> kMembers = {
    "closed_at", "config", "conversation", "created_at",     "cumulative_usage",
    "id",        "name",   "project_path", "prompt_history", "reprise",
    "signature", "todos",  "updated_at",   "version"};

// Why a part of a file is damage that can be read all the same.
inline constexpr std::string_view kNotUtf8 = "not UTF-8: what cannot be read is shown as U+FFFD";

// The number of messages that a file of ours says it has; nullopt for other files.
std::optional<std::int64_t> stored_message_count(std::string_view rest);

}  // namespace reprise::store::sessions
