#pragma once

// Creates, finds and changes sessions, and writes their messages. All inside the caller's
// transaction.
//
// Sessions may share messages. A session's own rows begin at its base_count; earlier messages are
// those of its base. A replaced suffix moves to a retained session "ID~GENERATION", a hidden fork
// of the old session in tables of its own: nothing is destroyed, and readers and forks that need it
// find it there.

#include "reprise/session.h"
#include "reprise/store.h"
#include "store/sqlite/connection.h"

namespace reprise::sqlite {

// The messages that a session shares with another one.
struct Base {
  std::optional<std::string> session;  // the session whose messages before `count` are shared
  Seq count;
};

// conflict if the id exists. The head is base.count.
Result<> insert_session(Connection& connection, const Session& session, const Base& base);
Result<std::optional<Session>> find_session(Connection& connection, const SessionId& id);
Result<> update_session(Connection& connection, const SessionId& id, const SessionPatch& patch);
// not_found for an unknown session.
Result<> require_session(Connection& connection, const SessionId& id);

// A batch, prepared once: the JSON is encoded before the lock is taken.
struct Batch {
  const std::vector<Message>& messages;
  const AppendOptions& options;
  std::vector<std::string> contents;
};
Batch make_batch(const std::vector<Message>& messages, const AppendOptions& options);

Result<AppendResult> append_messages(Connection& connection, const SessionId& id,
                                     const Batch& batch);
Result<AppendResult> replace_messages(Connection& connection, const SessionId& id, Seq from,
                                      const Batch& batch);

// Records the session's references to the blobs of these blocks.
Result<> reference_blobs(Connection& connection, const SessionId& id,
                         const std::vector<Block>& blocks);

// Rows of one session in [from, to).
struct Segment {
  std::string session;
  std::int64_t from;
  std::int64_t to;
  bool is_kept = false;  // in the table of retained messages
};
// The table of its rows.
std::string_view table_of(const Segment& segment);
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
