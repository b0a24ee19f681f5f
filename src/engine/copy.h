#pragma once

// Copies sessions between stores, and delivers the contents of an outbox to a store.
//
//  (1) Idempotent: existing messages are compared, not copied again. A session that has grown is
//      continued; one that differs is a conflict and remains unchanged in both stores.
//  (2) An interrupted copy can be resumed: messages are appended in order, in small batches whose
//      operation ids are derived from the session and the position.
//  (3) What the target cannot hold, and what is damaged, is listed as a loss. What could not be
//  read
//      this time only, or not be compared, is an error.

#include <stop_token>

#include "reprise/open_store.h"
#include "reprise/outbox.h"
#include "reprise/store.h"

namespace reprise {

enum class CopyOutcome : std::uint8_t {
  copied,     // the target did not have it
  continued,  // the target had it, and it has grown
  unchanged,  // the target had all its messages
  conflict,   // the messages differ
  forked,     // both have new messages: the new ones became a separate session
};
std::string_view to_string(CopyOutcome outcome);

struct CopiedSession {
  std::optional<SessionId> id = {};  // in the target; see copied_id.h
  CopyOutcome outcome = CopyOutcome::unchanged;
  std::int64_t messages = 0;         // appended by this copy
  std::string detail;                // of a conflict: the first difference
  std::optional<Seq> differs;        // its position in the target
  std::optional<Message> differing;  // the source's message there
  std::vector<std::string> losses;   // one line each
  std::vector<std::string> damage;   // subset of losses: unreadable parts of the source
};

struct CopyOptions {
  std::stop_token stop = {};
  ProgressSink progress = {};  // counts messages
  // Durability::os: the caller's next write to the session makes the messages durable. Only for
  // stores with the capability `deferred_creation`; others write to disk.
  Durability durability = Durability::disk;
  // Messages with the same content (content.h) are the same, whatever their times and models.
  bool by_content = false;
};
// After an error (a failing store, cancelled) the copy can be resumed by calling this again.
Result<CopiedSession> copy_session(Source& source, Store& target, const SessionId& id,
                                   const CopyOptions& options = {});

// Delivers the contents of an outbox.
//  (1) Each step has the operation id of the original attempt, so a step that has been applied is
//      not applied again. If the store has forgotten the id, the messages at its position are
//      compared.
//  (2) A missing session is created; one that is unchanged since the conversation is continued. If
//      it has other messages now, the steps become a fork at their position, or a new session if
//      the original is gone: nothing is lost or mixed up.
// After an error, calling this again continues. CopiedSession::detail names the session with the
// steps if it is not their own. unsupported for a store without messages.
Result<CopiedSession> replay_outbox(const OutboxSession& outbox, Store& target);

}  // namespace reprise
