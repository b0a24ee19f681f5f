#pragma once

// Names made of a session's facts.

#include "reprise/session.h"

namespace reprise::exporting {

// "2026-01-18-release-notes-e32c41d0": no character that a shell or another system minds.
std::string file_stem(const Session& session);

// When the session was created, else when it was last active, else a fixed moment.
Time time_of(const Session& session);

}  // namespace reprise::exporting
