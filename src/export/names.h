#pragma once

// File names and times derived from sessions.

#include "reprise/source.h"

namespace reprise::exporting {

// "2026-01-18-release-notes-e32c41d0", without characters that need quoting on any system.
std::string file_stem(const Session& session);

// The id, likewise.
std::string full_id(const SessionId& id);

// When the session was created, else last active; it may be unknown.
Time time_of(const Session& session);
// The session with times, for tools that require them: unknown ones are replaced by each other, by
// that of a message, or by the current time.
Result<Session> with_times(Source& source, Session session);

}  // namespace reprise::exporting
