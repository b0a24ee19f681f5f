#pragma once

// External inputs that determine what Reprise writes: time and randomness. The system's are used
// unless a caller passes others (tests do).

#include <span>  // IWYU pragma: export

#include "reprise/types.h"  // IWYU pragma: export

namespace reprise {

// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Time now() = 0;  // may go backwards: for display, never for order
};

// Thread-safe.
class Entropy {
 public:
  virtual ~Entropy() = default;
  virtual void fill(std::span<std::uint8_t> bytes) = 0;
};

Clock& system_clock();
Entropy& system_entropy();

// Version 7 UUIDs start with the time, the rest is random. For a session that is to be stored,
// SourceCapabilities::new_ids is the version that the store uses.
SessionId make_session_id(Clock& clock, Entropy& entropy, UuidVersion version = UuidVersion::v7);
OperationId make_operation_id(Clock& clock, Entropy& entropy);

}  // namespace reprise
