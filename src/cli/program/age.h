#pragma once

// Ages of sessions in words.

#include "reprise/types.h"  // IWYU pragma: export

namespace reprise::cli {

// "just now" (under a minute, or in the future), "5 min ago", "1 hour ago", "3 hours ago",
// "yesterday" (24 to 48 hours), "2 days ago" to "6 days ago", then the date, "2026-01-18"; "-" if
// the time is unknown.
std::string age_text(Time then, Time now);

}  // namespace reprise::cli
