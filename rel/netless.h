#pragma once

#include <cstdint>

namespace reprise::rel {

// Moves this process and its children to a network namespace with only 127.0.0.1. False if the
// kernel does not allow that.
bool leave_network();

// The number of attempts in it to reach another address.
std::int64_t ways_sought_out();

// Whether attempts can be counted.
bool counts_ways_out();

}  // namespace reprise::rel
