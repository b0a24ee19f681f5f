#include "provider/retry.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <vector>

#include "base/http.h"
#include "base/text.h"
#include "reprise/environment.h"

namespace reprise::provider {
namespace {

using std::chrono::milliseconds;

constexpr std::int64_t kPauseLimit = std::int64_t{1} << 40;  // milliseconds, to avoid overflow

std::optional<unsigned> month_of(std::string_view name) {
  constexpr std::string_view kMonths = "janfebmaraprmayjunjulaugsepoctnovdec";
  const auto at = kMonths.find(ascii_lower(name.substr(0, 3)));
  if (name.size() < 3 || at == std::string_view::npos || at % 3 != 0) {
    return std::nullopt;
  }
  return static_cast<unsigned>(at / 3 + 1);
}

// "20:15:30"
std::optional<std::chrono::seconds> time_of_day(std::string_view text) {
  if (text.size() != 8 || text[2] != ':' || text[5] != ':') {
    return std::nullopt;
  }
  const auto hour = parse_number<int>(text.substr(0, 2));
  const auto minute = parse_number<int>(text.substr(3, 2));
  const auto second = parse_number<int>(text.substr(6, 2));
  if (!hour || !minute || !second || *hour > 23 || *minute > 59 || *second > 60) {
    return std::nullopt;
  }
  return std::chrono::hours(*hour) + std::chrono::minutes(*minute) + std::chrono::seconds(*second);
}

// The three formats of RFC 9110, section 5.6.7: they have the same fields in different orders.
//   Sun, 06 Nov 1994 08:49:37 GMT / Sunday, 06-Nov-94 08:49:37 GMT / Sun Nov  6 08:49:37 1994
std::optional<Time> http_date(std::string_view text) {
  std::optional<unsigned> month;
  std::optional<std::chrono::seconds> clock;
  std::vector<int> numbers;
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of(" ,-"), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (const auto value = parse_number<int>(word); value) {
      numbers.push_back(*value);
    } else if (const auto time = time_of_day(word); time) {
      clock = time;
    } else if (const auto found = month_of(word); found && !month) {
      month = found;
    }
  }
  if (!month || !clock || numbers.size() != 2) {
    return std::nullopt;
  }
  const int year = numbers[1] < 100 ? numbers[1] + 2000 : numbers[1];
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(*month),
                                         std::chrono::day(static_cast<unsigned>(numbers[0]))};
  if (!date.ok()) {
    return std::nullopt;
  }
  return std::chrono::sys_days(date) + *clock;
}

// from_chars also accepts "nan" and "inf".
std::optional<milliseconds> pause_of(double amount, double unit) {
  if (!std::isfinite(amount)) {
    return std::nullopt;
  }
  return milliseconds(
      static_cast<std::int64_t>(std::clamp(amount * unit, 0.0, static_cast<double>(kPauseLimit))));
}

}  // namespace

std::optional<milliseconds> retry_after(const std::vector<http::Header>& headers, Time now) {
  if (const auto ms = parse_number<double>(http::find_header(headers, "retry-after-ms")); ms) {
    return pause_of(*ms, 1);
  }
  const std::string_view value = http::find_header(headers, "retry-after");
  if (const auto seconds = parse_number<double>(value); seconds) {
    return pause_of(*seconds, 1000);
  }
  if (const auto date = http_date(value); date) {
    return std::max(std::chrono::ceil<milliseconds>(*date - now), milliseconds(0));
  }
  return std::nullopt;
}

std::optional<milliseconds> retry_delay(std::string_view body) {
  constexpr std::string_view kDelay = R"("retryDelay")";
  const auto at = body.find(kDelay);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  std::string_view text = body.substr(at + kDelay.size());
  text.remove_prefix(std::min(text.find_first_not_of(" :\""), text.size()));
  const auto seconds = parse_number<double>(text.substr(0, text.find_first_not_of("0123456789.")));
  return seconds ? pause_of(*seconds, 1000) : std::nullopt;
}

milliseconds backoff(int retry, Entropy& entropy) {
  constexpr std::int64_t kFirst = 500;
  constexpr std::int64_t kLast = 8'000;
  constexpr std::int64_t kFourTimesAll = 4LL * 255;  // up to a quarter is subtracted
  const std::int64_t pause = std::min(kFirst << std::clamp(retry, 0, 10), kLast);
  std::array<std::uint8_t, 1> random{};
  entropy.fill(random);
  return milliseconds(pause - pause * random[0] / kFourTimesAll);
}

bool sleep_for(milliseconds pause, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any condition;
  std::unique_lock lock(mutex);
  (void)condition.wait_for(lock, stop, pause, [] { return false; });  // ends on timeout or stop
  return !stop.stop_requested();
}

}  // namespace reprise::provider
