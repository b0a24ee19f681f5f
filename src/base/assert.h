#pragma once

// Invariants: what only a fault of ours can break. Where one is broken, going on could destroy what
// is stored, so the process ends, in every build. Never for what a file, a server or a caller may
// cause: that is a Result.

namespace reprise {

// Says where, and aborts.
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line) noexcept;

}  // namespace reprise

#define REPRISE_ASSERT(condition)                      \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::reprise::assertion_failed(#condition, __FILE__, __LINE__))
