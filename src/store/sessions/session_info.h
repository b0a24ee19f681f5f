#pragma once

// Reads a session's list entry without reading the whole file.
//
// The keys of a file are in byte order: closed_at and config come first, then the conversation, and
// after it only small members. In a file with our formatting, each top-level member is on a line
// that begins with two blanks and a quotation mark, and no text can contain such a line. So the
// beginning and the end of a file are sufficient if they fit together; otherwise the whole file is
// read.

#include <filesystem>

#include "reprise/session.h"

namespace reprise::store::sessions {

struct Location;

inline constexpr std::int64_t kFileBytesMax = std::int64_t{10} << 20;

// not_found if the file does not exist; corrupt and unsupported like read_session();
// invalid_argument if it is not a file, or too large.
Result<SessionInfo> read_info(const std::filesystem::path& file, const Location& location);

// From the first and last bytes of a file with our formatting; nullopt if they are not sufficient.
// `head` and `tail` may both be the whole file.
std::optional<SessionInfo> info_from_ends(const Location& location, std::string_view head,
                                          std::string_view tail);

}  // namespace reprise::store::sessions
