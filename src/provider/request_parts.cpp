#include "provider/request_parts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>

#include "base/http.h"
#include "base/json_scan.h"
#include "base/json_view.h"
#include "base/json_write.h"
#include "base/text.h"
#include "reprise/environment.h"
#include "reprise/message.h"

namespace reprise::provider {
namespace {

// The value of the escape \uXXXX at the start of `text`; -1 if there is none.
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

}  // namespace

std::string number_to_json(double number) {
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
    const std::string_view remaining = text.substr(at);
    const int unit = unit_at(remaining);
    std::size_t length = remaining.front() == '\\' ? 2 : 1;
    if (is_high(unit) && is_low(unit_at(remaining.substr(6)))) {
      length = 12;
    } else if (is_high(unit) || is_low(unit)) {
      out += "\\ufffd";
      at += 6;
      continue;
    } else if (unit >= 0) {
      length = 6;
    }
    out += remaining.substr(0, length);
    at += length;
  }
  return out;
}

std::string object_input(const RawJson& input) {
  if (input.is_null()) {
    return "{}";
  }
  const std::string json = sendable(input);
  return is_json_object(json) ? json : cat(R"({"input":)", json, "}");
}

std::int64_t token_count(JsonView number) {
  constexpr double kExactMax = 9007199254740992;  // 2^53
  if (const std::int64_t count = number.count(); count > 0) {
    return count;
  }
  const double value = parse_number<double>(number.raw()).value_or(0);
  return value > 0 && value <= kExactMax ? static_cast<std::int64_t>(value) : 0;
}

bool has_value(JsonView member) {
  const std::string_view json = member.raw();
  return member.is(json::Kind::array) ? has_elements(member)
                                      : member && json != R"("")" && json != "{}";
}

std::string unknown_members(JsonView object, std::span<const std::string_view> known) {
  std::string out;
  json::ObjectWriter writer(out);
  object.each_member([&](std::string_view name, JsonView value) {
    if (has_value(value) && std::ranges::find(known, name) == known.end()) {
      writer.raw(name, value.raw());
    }
  });
  writer.close();
  return out == "{}" ? "" : out;
}

std::vector<http::Header> bearer_headers(std::string_view api_key) {
  if (api_key.empty()) {
    return {};
  }
  return {{"Authorization", cat("Bearer ", api_key)}};
}

void read_cost(JsonView usage_json, Usage& usage) {
  if (const JsonView cost = usage_json["cost"]; cost.is(json::Kind::number)) {
    usage.cost = Money::parse(cost.raw());
    usage.price_source = usage.cost ? "provider" : "";
  }
}

bool has_elements(JsonView array) {
  bool any = false;
  array.each([&any](JsonView) { any = true; });
  return any;
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
