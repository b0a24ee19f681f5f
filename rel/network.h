#pragma once

// Intercepts the calls by which this process communicates with a server: they are counted, ended by
// a kill, or made to fail. This program defines send(), recv() and connect(), which replace those
// of the C library for the libraries that it loads, too.
//
// One thread at a time.

#include <cstdint>

namespace reprise::rel {

// The fault of a call; calls are counted from 1.
struct NetworkTrap {
  enum class What : std::uint8_t {
    nothing,
    kill,          // the process is killed (SIGKILL) instead of making the call
    break_before,  // the connection breaks instead of the call
    break_after,   // the call is made, and all later data is lost
  };
  What what = What::nothing;
  std::int64_t at = 0;
  bool lasting = false;  // further connections fail
};

// Starts counting calls.
void watch_network(const NetworkTrap& trap = {});
void unwatch_network();
// The number of calls since watch_network().
std::int64_t network_calls();

}  // namespace reprise::rel
