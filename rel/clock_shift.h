#pragma once

namespace reprise::rel {

// Sets the shift of the real-time clock; see clock_shift.cpp for the values. `how` is not copied.
void set_clock(const char* how);

}  // namespace reprise::rel
