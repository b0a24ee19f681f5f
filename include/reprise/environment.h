#pragma once

// The outside world that decides what Reprise writes: the time and randomness. The real ones are
// used unless a caller hands in others (tests do).

#include <span>  // IWYU pragma: export

#include "reprise/types.h"  // IWYU pragma: export

namespace reprise {

// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Time now() = 0;  // may go backwards: never an order, only a display
};

// Thread-safe.
class Entropy {
 public:
  virtual ~Entropy() = default;
  virtual void fill(std::span<std::uint8_t> bytes) = 0;
};

Clock& system_clock();
Entropy& system_entropy();

// UUIDs of version 7: the time first, then randomness. For a session that is to be stored:
// SourceCapabilities::new_ids says which version the store gives.
SessionId make_session_id(Clock& clock, Entropy& entropy, UuidVersion version = UuidVersion::v7);
OperationId make_operation_id(Clock& clock, Entropy& entropy);

}  // namespace reprise
