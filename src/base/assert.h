#pragma once

// Assertions of invariants that only a bug in Reprise can violate. Continuing could destroy stored
// data, so the process aborts, in every build. Conditions that a file, a server or a caller may
// cause are a Result instead.

namespace reprise {

// Prints the location and the condition, and aborts.
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line) noexcept;

}  // namespace reprise

#define REPRISE_ASSERT(condition)                      \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::reprise::assertion_failed(#condition, __FILE__, __LINE__))
