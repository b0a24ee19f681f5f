#pragma once

// Sessions that share messages. A session's own rows begin at its base_count; what comes before is
// its base's. A suffix that is replaced moves to a kept session "ID~GENERATION", a hidden fork of
// the session as it was: nothing is destroyed, and readers and forks that need it find it there.

#include "reprise/session.h"
#include "store/sqlite/connection.h"

namespace reprise::sqlite {

// Rows of one session in [from, to).
struct Segment {
  std::string session;
  std::int64_t from;
  std::int64_t to;
};
// Where the messages [from, to) of a session stand, in ascending order. corrupt for a chain that
// goes in a circle.
Result<std::vector<Segment>> segments_of(Connection& connection, std::string_view session,
                                         std::int64_t from, std::int64_t to);

// The id of the kept session that shows `session` as it was in its generation.
std::string retained_name(std::string_view session, std::int64_t generation);

// The messages from `from` on leave the session and are kept. `from` must be below its head.
Result<> keep_suffix(Connection& connection, const SessionId& id, Seq from);

// The session's own messages that are kept. not_found for an unknown session.
Result<std::int64_t> count_replaced(Connection& connection, const SessionId& id);

Result<> fork_session(Connection& connection, const SessionId& parent, Seq at,
                      const Session& child);

}  // namespace reprise::sqlite
