#include "source/yaml.h"

#include <yaml.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

#include "base/dynamic_library.h"
#include "base/json_write.h"
#include "base/text.h"

namespace reprise::source {
namespace {

struct Yaml : LibraryFunctions {
  LazyFunction<decltype(&::yaml_parser_initialize)> initialize{*this, "yaml_parser_initialize"};
  LazyFunction<decltype(&::yaml_parser_delete)> destroy{*this, "yaml_parser_delete"};
  LazyFunction<decltype(&::yaml_parser_set_input_string)> set_input{*this,
                                                                    "yaml_parser_set_input_string"};
  LazyFunction<decltype(&::yaml_parser_parse)> parse{*this, "yaml_parser_parse"};
  LazyFunction<decltype(&::yaml_event_delete)> destroy_event{*this, "yaml_event_delete"};
};

const Result<const Yaml*>& libyaml() {
  static const auto yaml = load_library<Yaml>("libyaml", {"libyaml-0.so.2"});
  return yaml;
}

// A plain scalar as JSON; "" for a string.
std::string plain_value(std::string_view text) {
  static constexpr std::array<std::string_view, 5> kNulls = {"", "~", "null", "Null", "NULL"};
  if (std::ranges::find(kNulls, text) != kNulls.end()) {
    return "null";
  }
  std::string lower = ascii_lower(text);
  if (lower == "true" || lower == "false") {
    return lower;
  }
  const bool is_number = is_ascii_digit(text.front()) || text.front() == '-';
  return is_number && RawJson::parse(std::string(text)) ? std::string(text) : "";
}

class JsonBuilder {
 public:
  // False at the end of the document.
  Result<bool> take(const yaml_event_t& event) {
    switch (event.type) {
      case YAML_MAPPING_START_EVENT:
        return open(true);
      case YAML_SEQUENCE_START_EVENT:
        return open(false);
      case YAML_MAPPING_END_EVENT:
      case YAML_SEQUENCE_END_EVENT:
        out_ += open_.back().is_mapping ? '}' : ']';
        open_.pop_back();
        return true;
      case YAML_SCALAR_EVENT:
        return scalar(event);
      case YAML_ALIAS_EVENT:
        begin_value("null", true);
        return true;
      case YAML_DOCUMENT_END_EVENT:
      case YAML_STREAM_END_EVENT:
        return false;
      default:
        return true;
    }
  }
  std::string take_json() { return std::move(out_); }

 private:
  struct Level {
    bool is_mapping;
    std::size_t items = 0;  // keys and values
  };

  bool is_key() const {
    return !open_.empty() && open_.back().is_mapping && open_.back().items % 2 == 0;
  }

  // Writes the separator, then the text.
  void begin_value(std::string_view text, bool is_scalar) {
    const bool is_name = is_key();
    if (!open_.empty()) {
      Level& level = open_.back();
      if (level.items > 0) {
        out_ += level.is_mapping && level.items % 2 == 1 ? ':' : ',';
      }
      ++level.items;
    }
    // JSON keys are strings.
    if (is_name && is_scalar && !text.starts_with('"')) {
      json::append_string(out_, text);
    } else {
      out_ += text;
    }
  }

  Result<bool> open(bool is_mapping) {
    if (is_key()) {
      return fail(Code::corrupt, "a name that is not a string");
    }
    if (open_.size() >= static_cast<std::size_t>(kJsonDepthMax)) {
      return fail(Code::corrupt, "nested too deeply");
    }
    begin_value(is_mapping ? "{" : "[", false);
    open_.push_back({is_mapping});
    return true;
  }

  Result<bool> scalar(const yaml_event_t& event) {
    const auto& value = event.data.scalar;
    const std::string text(value.value, value.value + value.length);
    const bool is_plain = value.style == YAML_PLAIN_SCALAR_STYLE;
    const std::string plain = is_plain && !is_key() ? plain_value(text) : "";
    begin_value(plain.empty() ? json::quoted(text) : plain, true);
    return true;
  }

  std::string out_;
  std::vector<Level> open_;
};

}  // namespace

Result<RawJson> json_of_yaml(std::string_view text) {
  if (text.empty()) {
    return RawJson();  // libyaml aborts on empty input
  }
  const auto& yaml = libyaml();
  REPRISE_TRY(yaml);
  const Yaml& functions = **yaml;
  yaml_parser_t parser;
  if (functions.initialize(&parser) == 0) {
    return fail(Code::io, "out of memory while reading YAML", ENOMEM);
  }
  const std::unique_ptr<yaml_parser_t, decltype(&::yaml_parser_delete)> owner(
      &parser, functions.destroy.function());
  const std::vector<unsigned char> bytes(text.begin(), text.end());
  functions.set_input(&parser, bytes.data(), bytes.size());
  JsonBuilder builder;
  for (bool goes_on = true; goes_on;) {
    yaml_event_t event;
    if (functions.parse(&parser, &event) == 0) {
      return fail(Code::corrupt, cat("line ", parser.problem_mark.line + 1, ": not YAML"));
    }
    auto taken = builder.take(event);
    functions.destroy_event(&event);
    REPRISE_TRY(taken);
    goes_on = *taken;
  }
  std::string json = builder.take_json();
  return json.empty() ? RawJson() : RawJson::parse(std::move(json));
}

}  // namespace reprise::source
