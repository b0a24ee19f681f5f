#include "engine/tool_input.h"

#include <optional>

#include "base/json_scan.h"
#include "base/text.h"

namespace reprise {

bool is_object(const RawJson& input) {
  return json::Scanner(input.text()).kind() == json::Kind::object;
}

RawJson input_from_text(std::string_view text) {
  if (trimmed(text).empty()) {
    return json::take("{}");
  }
  auto parsed = RawJson::parse(std::string(text));
  return parsed ? *std::move(parsed) : RawJson::string(text);
}

std::optional<RawJson> runnable_input(const RawJson& input) {
  if (is_object(input)) {
    return input;
  }
  if (input.is_null()) {
    return json::take("{}");
  }
  json::Scanner scanner(input.text());
  std::string text;
  if (scanner.kind() == json::Kind::string && scanner.string(text)) {
    if (auto inner = RawJson::parse(std::move(text)); inner && is_object(*inner)) {
      return *std::move(inner);
    }
  }
  return std::nullopt;
}

RawJson input_object(const RawJson& input) {
  auto object = runnable_input(input);
  return object ? *std::move(object) : json::take(cat(R"({"_raw":)", input.text(), "}"));
}

}  // namespace reprise
