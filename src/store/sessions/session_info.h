#pragma once

// What a list shows of a session file, without reading all of it.
//
// The keys of a file are in byte order: closed_at and config come first, then the conversation,
// and after it all that is small. A file that is spelled as ours are has each of its own members
// on a line that begins with two blanks and a quotation mark, and no text in it can hold such a
// line. So the two ends are enough, if they fit together; what they do not tell is read whole.

#include <filesystem>

#include "reprise/session.h"
#include "store/sessions/session_json.h"

namespace reprise::store::sessions {

inline constexpr std::int64_t kFileBytesMax = std::int64_t{10} << 20;

// not_found when the file has gone; corrupt and unsupported as read_session(); invalid_argument for
// what is no file, or too large.
Result<SessionInfo> read_info(const std::filesystem::path& file, const Placed& placed);

// From the first and the last bytes of a file of ours; nullopt where they do not tell. `head` and
// `tail` may be all of it.
std::optional<SessionInfo> info_from_ends(const Placed& placed, std::string_view head,
                                          std::string_view tail);

}  // namespace reprise::store::sessions
