#pragma once

// A running answer that several processes write, one after the other, as the commands of a shell
// do. It belongs to no process, only to a lease, which each of them renews: if nobody does in time,
// the answer becomes an incomplete message, as that of a process that has ended.

#include <span>  // IWYU pragma: export

#include "reprise/capabilities.h"  // IWYU pragma: export
#include "session/append.h"        // IWYU pragma: export

namespace reprise {

// As long as a model may think between two pieces.
inline constexpr std::chrono::milliseconds kGivenAnswerLease{120'000};

struct GivenAnswer {
  std::string provider = {};
  std::string model = {};
  std::chrono::milliseconds lease = kGivenAnswerLease;
};

// Starts an answer in the session, after waiting as append_given() does, and returns its id. With
// an operation the id is derived from that, and a retry returns it again. unsupported for a store
// without running answers.
Result<OperationId> begin_answer(Store& store, const SessionId& id, const GivenAnswer& answer,
                                 const AppendContext& context, Entropy& entropy = system_entropy());

// The answer of begin_answer() that is running in the session: the one named, or any. conflict if
// it is not running.
Result<Partial> find_answer(Store& store, const SessionId& id,
                            const std::optional<OperationId>& answer);

// Appends to the answer, and renews its lease; see Partials::add_partial(). Survives a crash of the
// process.
Result<> add_to_answer(Store& store, const SessionId& id, const Partial& answer,
                       std::span<const Block> blocks);

// Stores the answer as a message with this state, durable on disk; nothing if it is empty. A retry
// returns what the first one returned. conflict if it was settled meanwhile.
Result<AppendResult> end_answer(Store& store, const SessionId& id, const OperationId& answer,
                                MessageState state, Clock& clock = system_clock());

}  // namespace reprise
