#pragma once

// Appends messages of another program's loop, and starts sessions for them. No provider is asked.

#include <chrono>      // IWYU pragma: export
#include <stop_token>  // IWYU pragma: export

#include "reprise/environment.h"  // IWYU pragma: export
#include "reprise/store.h"        // IWYU pragma: export

namespace reprise {

// How long an append waits for an answer that is running in the session.
inline constexpr std::chrono::milliseconds kAppendWait{10'000};

struct AppendContext {
  std::optional<OperationId> operation = std::nullopt;  // a retry under the same one happens once
  std::chrono::milliseconds busy_timeout = kAppendWait;
  std::stop_token stop = {};
  Clock& clock = system_clock();
};

// Appends the messages in one step, durable on disk. A closed session becomes active; an answer
// whose process is gone is stored first, and one that is running is waited for. Large images and
// tool results become blobs. A retry returns what the first append returned.
// busy while an answer is running; conflict if the operation appended other messages before;
// invalid_argument for an archived session, and for a blob that the store does not have.
Result<AppendResult> append_given(Store& store, const SessionId& id, std::vector<Message> messages,
                                  const AppendContext& context);

struct StartedByAppend {
  SessionId id;
  AppendResult appended;
};
// Creates the session and appends its first messages: both, or neither. Its id is replaced; without
// a title it gets one from the first question. With an operation the id is derived from that, so
// that a retry finds the session.
Result<StartedByAppend> start_with(Store& store, Session session, std::vector<Message> messages,
                                   const AppendContext& context,
                                   Entropy& entropy = system_entropy());

// Creates a session without messages, durable on disk; as above with an operation.
Result<SessionId> create_given(Store& store, Session session, const AppendContext& context,
                               Entropy& entropy = system_entropy());

// The id of the session that an operation creates: a UUID of version 4.
Result<SessionId> session_of_operation(const OperationId& operation);

// Waits until no answer is running, and makes the session active.
Result<> prepare_to_append(Store& store, const SessionId& id, const AppendContext& context);

}  // namespace reprise
