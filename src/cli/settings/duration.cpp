#include <charconv>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

#include "cli/settings/time_value.h"

namespace reprise::cli {

std::optional<std::chrono::hours> parse_duration(std::string_view text) {
  constexpr std::int64_t kDay = 24;
  constexpr std::int64_t kHoursMax = kDay * 366 * 1000;
  if (text.empty()) {
    return std::nullopt;
  }
  std::int64_t unit = 0;
  switch (text.back()) {
    case 'h':
      unit = 1;
      break;
    case 'd':
      unit = kDay;
      break;
    case 'w':
      unit = 7 * kDay;
      break;
    default:
      return std::nullopt;
  }
  const char* const end = text.data() + text.size() - 1;
  std::int64_t count = 0;
  const auto [stopped, error] = std::from_chars(text.data(), end, count);
  if (error != std::errc() || stopped != end || count < 0 || count > kHoursMax / unit) {
    return std::nullopt;
  }
  return std::chrono::hours(count * unit);
}

}  // namespace reprise::cli
