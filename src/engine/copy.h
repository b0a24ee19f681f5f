#pragma once

// Copying sessions from one store to another.
//
//  (1) Idempotent: what is there already is compared, not copied again. A session that has grown
//      is continued; one that differs is a conflict and stays as it is in both stores.
//  (2) An interrupted copy goes on where it stopped: messages arrive in order, in small batches
//      with operation ids made of the session and the place.
//  (3) What the target cannot hold, and what cannot be read, is a line in the list of losses.

#include <stop_token>

#include "reprise/open_store.h"
#include "reprise/store.h"

namespace reprise {

enum class CopyOutcome : std::uint8_t {
  copied,     // it was not there
  continued,  // it was there, and has grown
  unchanged,  // it was there with all its messages
  conflict,   // the messages differ
  forked,     // it has gone on by itself, and what came has become a session beside it
};
std::string_view to_string(CopyOutcome outcome);

struct CopiedSession {
  CopyOutcome outcome = CopyOutcome::unchanged;
  std::int64_t messages = 0;        // appended now
  std::string detail;               // of a conflict: where the two differ
  std::optional<Seq> differs;       // the same as a place
  std::vector<std::string> losses;  // one line each
  std::vector<std::string> damage;  // those of them that are parts of the source, unreadable
};

// `progress` is told of messages. An Error: it stopped in between (a failing store, cancelled);
// copying again goes on.
Result<CopiedSession> copy_session(Source& source, Store& target, const SessionId& id,
                                   std::stop_token stop = {}, const ProgressSink& progress = {});

}  // namespace reprise
