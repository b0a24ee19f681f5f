#pragma once

// External inputs: time and randomness, which determine what Reprise writes, and environment
// variables. The system's are used unless a caller passes others (tests do).

#include <functional>   // IWYU pragma: export
#include <optional>     // IWYU pragma: export
#include <span>         // IWYU pragma: export
#include <string>       // IWYU pragma: export
#include <string_view>  // IWYU pragma: export

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

// Returns the value of an environment variable; nullopt when it is not set.
using EnvironmentLookup = std::function<std::optional<std::string>(std::string_view name)>;

Clock& system_clock();
Entropy& system_entropy();

// Version 7 UUIDs start with the time, the rest is random. For a session that is to be stored,
// SourceCapabilities::new_ids is the version that the store uses.
SessionId make_session_id(Clock& clock, Entropy& entropy, UuidVersion version = UuidVersion::v7);
OperationId make_operation_id(Clock& clock, Entropy& entropy);

}  // namespace reprise
