#pragma once

namespace reprise::rel {

// What the clock of the day shows from now on: see clock_shift.cpp for the ways. The text must
// stay.
void set_clock(const char* how);

}  // namespace reprise::rel
