#pragma once

// Reads and writes session files (docs/formats/sessions.md).
//
//  (1) What was read is written back: unchanged messages keep their bytes, unknown members their
//      value and spelling.
//  (2) Our member `reprise` has the number of messages; a file with that many has them in order. In
//      other files, the times decide: the original writes the newest message first, and mixes them
//      when it resumes a session.
//  (3) The path of a file determines the session's state; its contents only distinguish states that
//      share a path.

#include <array>
#include <filesystem>

#include "reprise/session.h"
#include "store/document/document_format.h"
#include "store/sessions/signature.h"

namespace reprise::store::sessions {

struct Location;

// Whether to note how members are written differently from ours. That is needed to write the file
// again, and costs as much as writing it.
enum class Spelling : std::uint8_t { recorded, ignored };

class Ours;

// corrupt if it is not a session file, unsupported for a later version. Other damage is in the
// session's `damage`.
Result<FileSession> read_session(const Location& location, std::string_view json,
                                 Spelling spelling = Spelling::recorded);
// The same with what the original program dropped from our version of the file.
Result<FileSession> read_session_with(const Ours& ours, const Location& location,
                                      std::string_view json,
                                      Spelling spelling = Spelling::recorded);
// Without our members; the messages are in the order that these record.
Result<FileSession> read_known(const Location& location, std::string_view json);

// Signed with `key`; unsigned if it is null. Updates `encoded`.
Result<std::string> write_session(FileSession& file, const SigningKey* key);

// The known members; all others are the session's `extra`.
inline constexpr std::array<std::string_view, 14> kMembers = {
    "closed_at", "config", "conversation", "created_at",     "cumulative_usage",
    "id",        "name",   "project_path", "prompt_history", "reprise",
    "signature", "todos",  "updated_at",   "version"};

// The extra field with the times of a session that the original spelled differently from us, by the
// name of their member. They go with the session into other stores, and come back from there.
inline constexpr std::string_view kSpelling = "spelling";

// The reason for damage that can still be read.
inline constexpr std::string_view kNotUtf8 = "not UTF-8: what cannot be read is shown as U+FFFD";

// The number of messages recorded in a file of ours; nullopt for other files.
std::optional<std::int64_t> stored_message_count(std::string_view sidecar);

inline constexpr std::int64_t kFileBytesMax = std::int64_t{10} << 20;

// A session's list entry, without reading the whole file if it has our formatting. not_found if the
// file does not exist; corrupt and unsupported like read_session(); invalid_argument if it is not a
// file, or too large.
// `ours` is where our version of the file may be, if the original has rewritten it.
Result<SessionInfo> read_info(const std::filesystem::path& file, const Location& location,
                              const std::filesystem::path& ours);

// Our version of a file that has none of our members; nullopt if there is none.
Result<std::optional<Ours>> read_ours(const std::filesystem::path& ours, const Location& location,
                                      std::string_view json);

// From the first and last bytes of a file with our formatting; nullopt if they are not sufficient.
// `head` and `tail` may both be the whole file.
std::optional<SessionInfo> info_from_ends(const Location& location, std::string_view head,
                                          std::string_view tail);

}  // namespace reprise::store::sessions
