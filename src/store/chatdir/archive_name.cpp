// The names of the folders of archived chats.

#include <array>

#include "base/text.h"
#include "store/chatdir/layout.h"

namespace reprise::store::chatdir {
namespace {

constexpr std::array<std::size_t, 5> kGroupDigits = {8, 4, 4, 4, 12};
constexpr std::size_t kUuidBytes = 36;
constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuvwxyz";

// nullopt for an invalid digit, and for a number of more than 48 bits.
std::optional<std::uint64_t> parse_in_base(std::string_view text, std::uint64_t base) {
  if (text.empty() || text.size() > kGroupDigits.back()) {
    return std::nullopt;
  }
  std::uint64_t number = 0;
  for (const char c : text) {
    const auto digit = kDigits.find(ascii_lower(c));
    if (digit == std::string_view::npos || digit >= base) {
      return std::nullopt;
    }
    number = number * base + digit;
  }
  return number < (std::uint64_t{1} << 48U) ? std::optional(number) : std::nullopt;
}

std::string format_number(std::uint64_t number, std::uint64_t base) {
  std::string out;
  do {
    out.insert(out.begin(), kDigits[number % base]);
    number /= base;
  } while (number > 0);
  return out;
}

// Removes the part up to the next dash, with the dash, from `text` and returns it.
std::string_view take_group(std::string_view& text) {
  const auto dash = text.find('-');
  const std::string_view group = text.substr(0, dash);
  text.remove_prefix(dash == std::string_view::npos ? text.size() : dash + 1);
  return group;
}

}  // namespace

std::optional<std::string> archive_name(const SessionId& id) {
  std::string_view rest = id.str();
  if (rest.size() != kUuidBytes) {
    return std::nullopt;
  }
  std::string out;
  for (const std::size_t digits : kGroupDigits) {
    const std::string_view group = take_group(rest);
    const auto number = parse_in_base(group, 16);
    if (group.size() != digits || !number) {
      return std::nullopt;
    }
    out += cat(out.empty() ? "" : "-", format_number(*number, 36));
  }
  return out;
}

std::optional<SessionId> parse_archive_name(std::string_view text) {
  std::string uuid;
  std::string_view rest = text;
  for (const std::size_t digits : kGroupDigits) {
    const auto number = parse_in_base(take_group(rest), 36);
    if (!number) {
      return std::nullopt;
    }
    const std::string hex = format_number(*number, 16);
    if (hex.size() > digits) {
      return std::nullopt;
    }
    uuid += cat(uuid.empty() ? "" : "-", std::string(digits - hex.size(), '0'), hex);
  }
  auto id = SessionId::parse(uuid);
  if (!rest.empty() || !id || archive_name(*id) != ascii_lower(text)) {
    return std::nullopt;  // only the canonical spelling
  }
  return *std::move(id);
}

}  // namespace reprise::store::chatdir
