#pragma once

// Times as JavaScript writes them: always three digits after the seconds.

#include "reprise/types.h"

namespace reprise::store {

// "2025-10-20T18:27:48.503Z"; what lies beyond is cut off.
std::string format_milliseconds(Time time);
Time cut_to_milliseconds(Time time);

}  // namespace reprise::store
