#pragma once

// Times in the format of JavaScript, always with three digits after the seconds.

#include "reprise/types.h"

namespace reprise::store {

// "2025-10-20T18:27:48.503Z"; microseconds are truncated.
std::string format_milliseconds(Time time);
Time cut_to_milliseconds(Time time);

}  // namespace reprise::store
