#include "cli/program/age.h"

#include "base/text.h"
#include "model/known_time.h"

namespace reprise::cli {

std::string age_text(Time then, Time now) {
  if (!is_known(then)) {
    return "-";
  }
  using std::chrono::floor;
  const auto age = now - then;
  if (age < std::chrono::minutes(1)) {
    return "just now";
  }
  if (age < std::chrono::hours(1)) {
    return cat(floor<std::chrono::minutes>(age).count(), " min ago");
  }
  const auto hours = floor<std::chrono::hours>(age).count();
  if (hours < 24) {
    return hours == 1 ? "1 hour ago" : cat(hours, " hours ago");
  }
  const auto days = hours / 24;
  if (days < 7) {
    return days == 1 ? "yesterday" : cat(days, " days ago");
  }
  return format_time(then).substr(0, 10);
}

}  // namespace reprise::cli
