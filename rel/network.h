#pragma once

// The calls by which this process talks to a server, in our hands: counted, ended by a kill, or
// made to fail. This program has its own send(), recv() and connect(), and the libraries that it
// loads call those, too.
//
// One thread at a time.

#include <cstdint>

namespace reprise::rel {

// What happens to one of the calls, counted from 1.
struct NetworkTrap {
  enum class What : std::uint8_t {
    nothing,
    kill,          // the process dies (SIGKILL) instead of making the call
    break_before,  // the connection breaks instead of the call
    break_after,   // the call is made, and nothing that comes after it arrives
  };
  What what = What::nothing;
  std::int64_t at = 0;
  bool lasting = false;  // no connection can be made any more
};

// From here on calls count.
void watch_network(const NetworkTrap& trap = {});
void unwatch_network();
// Since watch_network().
std::int64_t network_calls();

}  // namespace reprise::rel
