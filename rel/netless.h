#pragma once

#include <cstdint>

namespace reprise::rel {

// From here on this process and its children have a network of their own, in which there is only
// 127.0.0.1. False when the kernel does not allow that.
bool leave_network();

// How often somebody in it wanted to reach another address.
std::int64_t ways_sought_out();

// Whether that is counted at all.
bool counts_ways_out();

}  // namespace reprise::rel
