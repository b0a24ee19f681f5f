#include "provider/value.h"

#include <cmath>
#include <cstddef>

#include "base/json_scan.h"
#include "base/json_view.h"
#include "base/json_write.h"
#include "provider/request_parts.h"

namespace reprise::provider {
namespace {

struct ValueJson {
  std::string operator()(const std::string& text) const { return json::quoted(text); }
  std::string operator()(bool truth) const { return truth ? "true" : "false"; }
  std::string operator()(std::int64_t number) const { return cat(number); }
  std::string operator()(double number) const { return number_to_json(number); }
  std::string operator()(const std::vector<std::string>& texts) const {
    return json::array_of(texts);
  }
  std::string operator()(const TextTable& texts) const {
    std::string out;
    json::ObjectWriter object(out);
    for (const auto& [name, text] : texts) {
      object.field(name, text);
    }
    object.close();
    return out;
  }
  std::string operator()(const RawJson& json) const { return json.text(); }
};

std::optional<Value> parse_list(std::string_view text) {
  json::Scanner scanner(text);
  if (scanner.kind() != json::Kind::array) {
    return text.empty() ? std::nullopt
                        : std::optional<Value>(std::vector<std::string>{std::string(text)});
  }
  std::vector<std::string> out;
  const bool is_valid =
      scanner.array([&] { return scanner.string(out.emplace_back()); }) && scanner.end();
  return is_valid && !out.empty() ? std::optional<Value>(std::move(out)) : std::nullopt;
}

template <class Number>
std::optional<Value> parse_number_in(const NumberRange& range, std::string_view text) {
  const auto number = parse_number<Number>(text);
  const double value = static_cast<double>(number.value_or(0));
  return number && std::isfinite(value) && range.holds(value) ? std::optional<Value>(*number)
                                                              : std::nullopt;
}

}  // namespace

std::optional<Value> parse_value(ValueKind kind, std::string_view text, const NumberRange& range) {
  switch (kind) {
    case ValueKind::text:
      return text.empty() ? std::nullopt : std::optional<Value>(std::string(text));
    case ValueKind::truth:
      return text == "true" || text == "false" ? std::optional<Value>(text == "true")
                                               : std::nullopt;
    case ValueKind::whole:
      return parse_number_in<std::int64_t>(range, text);
    case ValueKind::number:
      return parse_number_in<double>(range, text);
    case ValueKind::list:
      return parse_list(text);
    case ValueKind::table_of_texts:
      return std::nullopt;
    case ValueKind::table:
      break;
  }
  auto json = RawJson::parse(std::string(text));
  return json && is_json_object(json->text()) ? std::optional<Value>(*std::move(json))
                                              : std::nullopt;
}

std::string expected_text(ValueKind kind, const NumberRange& range) {
  switch (kind) {
    case ValueKind::text:
      return "a word";
    case ValueKind::truth:
      return "true or false";
    case ValueKind::whole:
      return number_words(NumberKind::whole, range);
    case ValueKind::number:
      return number_words(NumberKind::any, range);
    case ValueKind::list:
      return "a string or a JSON array of strings";
    case ValueKind::table_of_texts:
    case ValueKind::table:
      break;
  }
  return "a JSON object";
}

std::string value_json(const Value& value) {
  return std::visit(ValueJson(), value);
}

}  // namespace reprise::provider
