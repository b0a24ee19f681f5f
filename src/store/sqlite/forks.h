#pragma once

// Sessions that share messages. A session's own rows begin at its base_count; earlier messages are
// those of its base. A replaced suffix moves to a retained session "ID~GENERATION" (state 'kept'),
// a hidden fork of the old session: nothing is destroyed, and readers and forks that need it find
// it there.

#include "reprise/session.h"
#include "store/sqlite/connection.h"

namespace reprise::sqlite {

// Rows of one session in [from, to).
struct Segment {
  std::string session;
  std::int64_t from;
  std::int64_t to;
};
// The rows of the messages [from, to) of a session, in ascending order. corrupt for a cyclic chain
// of bases.
Result<std::vector<Segment>> segments_of(Connection& connection, std::string_view session,
                                         std::int64_t from, std::int64_t to);

// The id of the retained session for a generation of `session`.
std::string retained_name(std::string_view session, std::int64_t generation);

// Moves the messages from `from` on to a retained session. `from` must be below the head.
Result<> retain_suffix(Connection& connection, const SessionId& id, Seq from);

// The number of the session's replaced messages. not_found for an unknown session.
Result<std::int64_t> count_replaced(Connection& connection, const SessionId& id);

Result<> fork_session(Connection& connection, const SessionId& parent, Seq at,
                      const Session& child);

}  // namespace reprise::sqlite
