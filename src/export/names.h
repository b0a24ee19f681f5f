#pragma once

// File names derived from sessions.

#include "reprise/session.h"

namespace reprise::exporting {

// "2026-01-18-release-notes-e32c41d0", without characters that need quoting on any system.
std::string file_stem(const Session& session);

// When the session was created, else last active, else a fixed time.
Time time_of(const Session& session);

}  // namespace reprise::exporting
