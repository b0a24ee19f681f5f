#pragma once

// How long ago something was, in words.

#include "reprise/types.h"  // IWYU pragma: export

namespace reprise::cli {

// "just now" (under a minute, or in the future), "5 min ago", "1 hour ago", "3 hours ago",
// "yesterday" (24 to 48 hours), "2 days ago" to "6 days ago", then the date, "2026-01-18"; "-" for
// a time that is not known.
std::string age_text(Time then, Time now);

}  // namespace reprise::cli
