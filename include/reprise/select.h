#pragma once

// Resolves SEL, the way users name a session.

#include "reprise/source.h"  // IWYU pragma: export

namespace reprise {

struct Selection {
  std::string working_dir;         // "last" is the newest session of this folder
  std::vector<SessionId> numbers;  // the list shown last, for "1", "2", …
  std::vector<SessionState> states = {SessionState::active, SessionState::closed};
  // The state that the command gives to sessions: the error for one in it says "already".
  std::optional<SessionState> goal = std::nullopt;
  std::string program = "reprise";  // how the commands begin that errors suggest
};

// A number of the list shown last, an id, a short id, a unique prefix of either (4 digits or more),
// a title (in any case, with or without accents, unless one has exactly these letters), or
// "last": the newest active or closed session, or, if `states` includes neither,
// the newest in one of them. not_found, or ambiguous with the candidates in the message.
Result<SessionInfo> select_session(Source& source, std::string_view sel,
                                   const Selection& selection);

// The short id by which select_session() finds the session: longer than usual if another session of
// the store, in any state, has the same digits.
Result<std::string> unique_short_id(Source& source, const SessionId& id);

}  // namespace reprise
