#include "reprise/types.h"

#include <algorithm>
#include <cstddef>

#include "base/text.h"
#include "base/utf8.h"

namespace reprise {
namespace {

constexpr std::size_t kIdBytesMax = 200;
constexpr std::size_t kAuthorBytesMax = 256;

// Reads a fixed number of digits; -1 if there are other characters.
int digits(std::string_view text, std::size_t at, std::size_t count) {
  if (at + count > text.size()) {
    return -1;
  }
  int value = 0;
  for (std::size_t i = at; i < at + count; ++i) {
    if (!is_ascii_digit(text[i])) {
      return -1;
    }
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

void append_padded(std::string& out, std::int64_t value, std::size_t width) {
  const std::size_t begin = out.size();
  out.append(width, '0');
  std::int64_t remaining = value;
  for (std::size_t at = out.size(); at > begin && remaining > 0; --at) {
    out[at - 1] = static_cast<char>('0' + remaining % 10);
    remaining /= 10;
  }
  if (remaining != 0) {
    out.resize(begin);
    out += std::to_string(value);
  }
}

std::optional<Time> parse_unix_seconds(std::string_view text) {
  // Years 0001 to 9999: the range of format_time().
  constexpr std::int64_t kMin = -62'135'596'800;
  constexpr std::int64_t kMax = 253'402'300'799;
  const auto seconds = parse_number<std::int64_t>(text);
  return seconds && *seconds >= kMin && *seconds <= kMax
             ? std::optional(Time(std::chrono::seconds(*seconds)))
             : std::nullopt;
}

// The part after the seconds: a fraction, then a zone.
struct TimeSuffix {
  std::int64_t micros = 0;
  std::chrono::minutes offset{0};
};

std::optional<TimeSuffix> parse_time_suffix(std::string_view text) {
  TimeSuffix suffix;
  std::size_t i = 0;
  if (i < text.size() && (text[i] == '.' || text[i] == ',')) {
    std::int64_t scale = 100'000;
    const std::size_t start = ++i;
    for (; i < text.size() && is_ascii_digit(text[i]); ++i) {
      suffix.micros += (text[i] - '0') * scale;
      scale /= 10;
    }
    if (i == start || i - start > 9) {
      return std::nullopt;
    }
  }
  const std::string_view zone = text.substr(i);
  if (zone.empty() || zone == "Z" || zone == "z") {
    return suffix;
  }
  const bool colon = zone.size() == 6 && zone[3] == ':';
  const int hours = digits(zone, 1, 2);
  const int minutes = zone.size() == 3 ? 0 : digits(zone, colon ? 4 : 3, 2);
  const bool is_well_formed = colon || zone.size() == 5 || zone.size() == 3;
  if (!is_well_formed || (zone[0] != '+' && zone[0] != '-') || hours < 0 || hours > 23 ||
      minutes < 0 || minutes > 59) {
    return std::nullopt;
  }
  suffix.offset = std::chrono::minutes((hours * 60 + minutes) * (zone[0] == '-' ? -1 : 1));
  return suffix;
}

}  // namespace

namespace detail {

Result<> check_id(std::string_view text) {
  static constexpr std::string_view kPunctuation = "._:@+-";
  const auto allowed = [](char c) { return is_ascii_alnum(c) || kPunctuation.contains(c); };
  if (text.empty() || text.size() > kIdBytesMax || !is_ascii_alnum(text.front()) ||
      !std::ranges::all_of(text, allowed)) {
    return fail(Code::invalid_argument,
                cat("not an id: use 1 to ", kIdBytesMax,
                    " letters, digits or ._:@+-, beginning with a letter or digit"));
  }
  return {};
}

}  // namespace detail

Result<Author> Author::parse(std::string_view name) {
  if (name.empty() || name.size() > kAuthorBytesMax || !utf8::is_valid(name)) {
    return fail(Code::invalid_argument,
                cat("an author must be a name of 1 to ", kAuthorBytesMax, " bytes of UTF-8"));
  }
  for (std::string_view remaining = name; !remaining.empty();) {
    const auto [code_point, bytes] = utf8::decode(remaining);
    const bool is_control = code_point < 0x20 || (code_point >= 0x7F && code_point < 0xA0);
    if (is_control || code_point == 0x2028 || code_point == 0x2029) {
      return fail(Code::invalid_argument,
                  "an author must not contain control characters or line ends");
    }
    remaining.remove_prefix(bytes);
  }
  return Author(std::string(name));
}

Result<BlobHash> BlobHash::parse(std::string_view hex) {
  const auto is_hex = [](char c) { return is_ascii_digit(c) || (c >= 'a' && c <= 'f'); };
  if (hex.size() != 64 || !std::ranges::all_of(hex, is_hex)) {
    return fail(Code::invalid_argument, "not a blob hash: use 64 lower-case hexadecimal digits");
  }
  return BlobHash(std::string(hex));
}

std::optional<Money> Money::parse(std::string_view number) {
  const bool negative = number.starts_with('-');
  if (negative) {
    number.remove_prefix(1);
  }
  std::string all_digits;
  int exponent = 9;  // of the last digit kept, in nanos
  const std::size_t e = number.find_first_of("eE");
  if (e != std::string_view::npos) {
    std::string_view power = number.substr(e + 1);
    if (power.starts_with('+')) {
      power.remove_prefix(1);
    }
    const auto parsed = parse_number<int>(power);
    if (!parsed || *parsed > 400 || *parsed < -400) {
      return std::nullopt;
    }
    exponent += *parsed;
    number = number.substr(0, e);
  }
  const std::size_t point = number.find('.');
  if (point != std::string_view::npos) {
    exponent -= static_cast<int>(number.size() - point - 1);
  }
  for (const char c : number) {
    if (is_ascii_digit(c)) {
      all_digits += c;
    } else if (c != '.' || number.find('.') != number.rfind('.')) {
      return std::nullopt;
    }
  }
  if (all_digits.empty() || all_digits.size() > 400) {
    return std::nullopt;
  }
  bool round_up = false;
  if (exponent < 0) {
    const auto drop = static_cast<std::size_t>(-exponent);
    all_digits.insert(0, drop >= all_digits.size() ? drop - all_digits.size() + 1 : 0, '0');
    round_up = all_digits[all_digits.size() - drop] >= '5';
    all_digits.resize(all_digits.size() - drop);
  } else {
    all_digits.append(static_cast<std::size_t>(exponent), '0');
  }
  const auto truncated = parse_number<std::int64_t>(all_digits);
  if (!truncated || (round_up && *truncated == INT64_MAX)) {
    return std::nullopt;
  }
  const std::int64_t nanos = *truncated + (round_up ? 1 : 0);
  return Money{negative ? -nanos : nanos};
}

std::string Money::str() const {
  constexpr std::uint64_t kWhole = 1'000'000'000;
  const std::uint64_t magnitude =
      nanos < 0 ? 0 - static_cast<std::uint64_t>(nanos) : static_cast<std::uint64_t>(nanos);
  std::string out = cat(nanos < 0 ? "-" : "", magnitude / kWhole);
  if (const std::uint64_t fraction = magnitude % kWhole; fraction != 0) {
    std::string text;
    append_padded(text, static_cast<std::int64_t>(fraction), 9);
    text.erase(text.find_last_not_of('0') + 1);
    out += '.';
    out += text;
  }
  return out;
}

std::string format_time(Time time) {
  using std::chrono::days;
  const auto day = std::chrono::floor<days>(time);
  const std::chrono::year_month_day date(day);
  const std::int64_t micros = (time - day).count();
  const std::int64_t seconds = micros / 1'000'000;
  const std::int64_t fraction = micros % 1'000'000;
  std::string out;
  append_padded(out, static_cast<int>(date.year()), 4);
  std::size_t at = out.size();
  out += "-00-00T00:00:00";
  const std::int64_t parts[] = {static_cast<unsigned>(date.month()),
                                static_cast<unsigned>(date.day()), seconds / 3600,
                                seconds / 60 % 60, seconds % 60};
  for (const std::int64_t part : parts) {
    out[at + 1] = static_cast<char>('0' + part / 10);
    out[at + 2] = static_cast<char>('0' + part % 10);
    at += 3;
  }
  if (fraction != 0) {
    out += '.';
    const bool millis = fraction % 1000 == 0;
    append_padded(out, millis ? fraction / 1000 : fraction, millis ? 3 : 6);
  }
  out += 'Z';
  return out;
}

std::optional<Time> parse_time(std::string_view text) {
  if (text.size() < 19 || text[4] != '-') {
    return parse_unix_seconds(text);
  }
  const int year = digits(text, 0, 4);
  const int month = digits(text, 5, 2);
  const int day = digits(text, 8, 2);
  const int hour = digits(text, 11, 2);
  const int minute = digits(text, 14, 2);
  const int second = digits(text, 17, 2);
  const bool is_well_formed = text[7] == '-' &&
                              (text[10] == 'T' || text[10] == 't' || text[10] == ' ') &&
                              text[13] == ':' && text[16] == ':';
  const bool in_range = year >= 1 && month >= 0 && day >= 0 && hour >= 0 && hour < 24 &&
                        minute >= 0 && minute < 60 && second >= 0 && second <= 60;
  if (!is_well_formed || !in_range) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  const auto suffix = parse_time_suffix(text.substr(19));
  if (!date.ok() || !suffix) {
    return std::nullopt;
  }
  return Time(std::chrono::sys_days(date)) + std::chrono::hours(hour) +
         std::chrono::minutes(minute) + std::chrono::seconds(second) +
         std::chrono::microseconds(suffix->micros) - suffix->offset;
}

}  // namespace reprise
