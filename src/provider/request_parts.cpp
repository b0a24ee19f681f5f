#include "provider/request_parts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/text.h"
#include "provider/json_view.h"
#include "reprise/environment.h"
#include "reprise/json.h"
#include "reprise/message.h"
#include "reprise/types.h"

namespace reprise::provider {
namespace {

// The value of the escape \uXXXX at the beginning of `text`; -1 when there is none.
int unit_at(std::string_view text) {
  if (text.size() < 6 || !text.starts_with("\\u")) {
    return -1;
  }
  int unit = -1;
  std::from_chars(text.data() + 2, text.data() + 6, unit, 16);
  return unit;
}

bool is_high(int unit) {
  return unit >= 0xD800 && unit < 0xDC00;
}
bool is_low(int unit) {
  return unit >= 0xDC00 && unit < 0xE000;
}

// FNV-1a, 64 bits: the same text has the same digest in every run, which std::hash does not
// promise.
std::uint64_t digest(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  return hash;
}

std::string word(std::string_view text, std::size_t bytes_max) {
  constexpr std::size_t kDigestBytes = 17;  // and its underscore
  const auto allowed = [](char c) { return is_ascii_alnum(c) || c == '_' || c == '-'; };
  if (!text.empty() && text.size() <= bytes_max && std::ranges::all_of(text, allowed)) {
    return std::string(text);
  }
  std::string out(text.substr(0, bytes_max - kDigestBytes));
  std::ranges::replace_if(out, [&](char c) { return !allowed(c); }, '_');
  std::array<char, kDigestBytes> hex{};
  const auto [end, code] = std::to_chars(hex.data(), hex.data() + hex.size(), digest(text), 16);
  return cat(out, "_", std::string_view(hex.data(), static_cast<std::size_t>(end - hex.data())));
}

}  // namespace

std::string call_id(std::string_view id) {
  return word(id, kCallIdBytesMax);
}

std::string tool_name(std::string_view name) {
  return word(name, kToolNameBytesMax);
}

std::string spelled(double number) {
  std::array<char, 32> buffer{};
  const auto [end, code] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
  return {buffer.data(), end};
}

std::string sendable(const RawJson& json) {
  const std::string_view text = json.text();
  if (text.find("\\ud") == std::string_view::npos && text.find("\\uD") == std::string_view::npos) {
    return json.text();
  }
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    const int unit = unit_at(rest);
    std::size_t taken = rest.front() == '\\' ? 2 : 1;
    if (is_high(unit) && is_low(unit_at(rest.substr(6)))) {
      taken = 12;
    } else if (is_high(unit) || is_low(unit)) {
      out += "\\ufffd";
      at += 6;
      continue;
    } else if (unit >= 0) {
      taken = 6;
    }
    out += rest.substr(0, taken);
    at += taken;
  }
  return out;
}

std::string object_input(const RawJson& input) {
  if (input.is_null()) {
    return "{}";
  }
  std::string json = sendable(input);
  return is_json_object(json) ? json : cat(R"({"input":)", json, "}");
}

std::string_view result_text(const ToolResultBlock& result) {
  return result.text.empty() ? std::string_view("(no output)") : std::string_view(result.text);
}

DataUrl parse_data_url(std::string_view url) {
  constexpr std::string_view kScheme = "data:";
  constexpr std::string_view kBase64 = ";base64,";
  const auto comma = url.find(',');
  if (!url.starts_with(kScheme) || comma == std::string_view::npos ||
      !url.substr(0, comma + 1).ends_with(kBase64)) {
    return {};
  }
  const std::string_view type = url.substr(kScheme.size(), comma + 1 - kScheme.size());
  return {type.substr(0, type.find(';')), url.substr(comma + 1)};
}

std::string request_id_of(std::string_view response_id, std::string_view http_id) {
  constexpr std::size_t kUniqueBytes = 20;
  if (response_id.size() >= kUniqueBytes) {
    return std::string(response_id);
  }
  if (!http_id.empty()) {
    return std::string(http_id);
  }
  const std::string unique = make_operation_id(system_clock(), system_entropy()).str();
  return response_id.empty() ? unique : cat(response_id, "-", unique);
}

}  // namespace reprise::provider
