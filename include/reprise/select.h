#pragma once

// SEL, the way people name a session.

#include "reprise/store.h"  // IWYU pragma: export

namespace reprise {

struct Selection {
  std::string working_dir;         // "last" is the newest here
  std::vector<SessionId> numbers;  // the last shown list, for "1", "2", …
  std::vector<SessionState> states = {SessionState::active, SessionState::closed};
};

// A number from the last shown list, an id, a short id, a unique prefix of either (4 or more), an
// exact title, or "last". not_found, or ambiguous with the candidates in the message.
Result<SessionInfo> select_session(Source& source, std::string_view sel, const Selection& how);

// The short id by which select_session() finds this one in the store: lengthened where another
// session of it, in whatever state, has the same digits.
Result<std::string> unique_short_id(Source& source, const SessionId& id);

}  // namespace reprise
