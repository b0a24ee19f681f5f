#include "export/tool_values.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "base/encode.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/text.h"
#include "export/names.h"
#include "model/known_time.h"
#include "reprise/session.h"

namespace reprise::exporting {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr std::size_t kHashDigits = 16;

// Mixes the bits of a hash (splitmix64).
std::uint64_t mixed(std::uint64_t hash) {
  hash = (hash ^ (hash >> 30U)) * 0xbf58476d1ce4e5b9U;
  hash = (hash ^ (hash >> 27U)) * 0x94d049bb133111ebU;
  return hash ^ (hash >> 31U);
}

}  // namespace

std::string derived_hex(std::string_view seed, std::size_t digits) {
  std::string out;
  for (std::uint64_t round = 0; out.size() < digits; ++round) {
    std::uint64_t hash = mixed(fnv1a(seed) + round * 0x9e3779b97f4a7c15U);
    for (std::size_t i = 0; i < kHashDigits && out.size() < digits; ++i, hash >>= 4U) {
      out += kHexDigits[hash & 0xFU];
    }
  }
  return out;
}

std::string hex_digits(std::uint64_t number, std::size_t digits) {
  std::string out(digits, '0');
  for (std::size_t i = digits; i-- > 0; number >>= 4U) {
    out[i] = kHexDigits[number & 0xFU];
  }
  return out;
}

std::string derived_uuid(std::string_view seed) {
  std::string hex = derived_hex(seed, 32);
  hex[12] = '4';
  hex[16] = 'a';
  for (const std::size_t at : {8U, 13U, 18U, 23U}) {
    hex.insert(at, 1, '-');
  }
  return hex;
}

std::string uuid_of(const Session& session) {
  const std::string& id = session.info.id.str();
  return is_uuid(id) ? id : derived_uuid(id);
}

std::string on_one_line(std::string_view json) {
  constexpr std::pair<std::string_view, std::string_view> kEnds[] = {
      {"\xC2\x85", "\\u0085"}, {"\xE2\x80\xA8", "\\u2028"}, {"\xE2\x80\xA9", "\\u2029"}};
  std::string out(json);
  for (const auto& [character, escape] : kEnds) {
    for (std::size_t at = 0; (at = out.find(character, at)) != std::string::npos;
         at += escape.size()) {
      out.replace(at, character.size(), escape);
    }
  }
  return out;
}

std::string iso_milliseconds(Time time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  std::string text = format_time(seconds);
  const std::string fraction =
      std::to_string(1000 + std::chrono::floor<std::chrono::milliseconds>(time - seconds).count());
  return text.insert(text.size() - 1, cat(".", std::string_view(fraction).substr(1)));
}

std::int64_t milliseconds(Time time) {
  return std::chrono::floor<std::chrono::milliseconds>(time).time_since_epoch().count();
}

MonotonicTimes::MonotonicTimes(const Session& session) : last_(time_of(session)) {}

Time MonotonicTimes::next(Time time) {
  last_ = std::max(last_, time);
  return last_;
}

std::string input_object(const ToolUseBlock& call) {
  const std::string text = json::compact(call.input.text());
  return text.starts_with('{') ? text : cat("{\"input\":", text, "}");
}

std::string input_text(const ToolUseBlock& call) {
  json::Scanner scanner(call.input.text());
  std::string text;
  return scanner.kind() == json::Kind::string && scanner.string(text) ? text : call.input.text();
}

}  // namespace reprise::exporting
