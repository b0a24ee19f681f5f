#pragma once

// The ids of copies. A copy has the id of its source, except in stores whose original program
// accepts UUIDs of version 4 only: there it has one that follows from the source's id, so that
// copying again finds the copy. Such a copy notes the id that it comes from in the extra field
// "copied_from", and has it again in any other store.

#include "reprise/source.h"

namespace reprise {

// The id itself if it is a UUID of version 4, otherwise one that follows from it. It has the same
// last group, and so the same short id, except for non-UUIDs and imported sessions.
Result<SessionId> version_4_id(const SessionId& id);

// Whether it has the form of the id of an imported session, which others are unlikely to have.
bool is_imported_id(const SessionId& id);

// The session with the id, the origin and the note that its copy has in `target`.
Result<Session> with_copied_ids(Source& source, Source& target, Session session);

}  // namespace reprise
