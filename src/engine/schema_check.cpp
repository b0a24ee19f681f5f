#include "engine/schema_check.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/json_view.h"
#include "base/text.h"
#include "base/utf8.h"

namespace reprise {
namespace {

constexpr int kSchemaDepthMax = 64;
constexpr int kStepsMax = 100'000;  // a schema that refers to itself may branch without end

class SchemaCheck {
 public:
  explicit SchemaCheck(JsonView root) : root_(root) {}

  std::string mismatch(JsonView value, JsonView schema, const std::string& place, int depth = 0) {
    if (++steps_ > kStepsMax || depth > kSchemaDepthMax || !schema.is(json::Kind::object)) {
      return schema.raw() == "false" ? cat(place, " is not allowed") : "";
    }
    if (const std::string ref = schema["$ref"].text(); !ref.empty()) {
      return mismatch(value, referred(ref), place, depth + 1);
    }
    for (const auto check : {&SchemaCheck::of_kind, &SchemaCheck::of_size}) {
      if (std::string why = (this->*check)(value, schema, place); !why.empty()) {
        return why;
      }
    }
    if (std::string why = of_members(value, schema, place, depth); !why.empty()) {
      return why;
    }
    return of_combinations(value, schema, place, depth);
  }

  // Whether the schema was too much to check, which says nothing about the answer.
  bool is_exhausted() const { return steps_ > kStepsMax; }

 private:
  static bool is_type(JsonView value, std::string_view type) {
    constexpr std::pair<std::string_view, json::Kind> kKinds[] = {{"object", json::Kind::object},
                                                                  {"array", json::Kind::array},
                                                                  {"string", json::Kind::string},
                                                                  {"number", json::Kind::number},
                                                                  {"null", json::Kind::null}};
    if (type == "boolean") {
      return value.raw() == "true" || value.raw() == "false";
    }
    if (type == "integer") {
      const auto number = number_in(value);
      return number && std::floor(*number) == *number;
    }
    return std::ranges::any_of(
        kKinds, [&](const auto& kind) { return kind.first == type && value.is(kind.second); });
  }

  static std::optional<double> number_in(JsonView value) {
    return value.is(json::Kind::number) ? parse_number<double>(value.raw()) : std::nullopt;
  }

  static bool is_equal(JsonView a, JsonView b) {
    if (a.is(json::Kind::string) && b.is(json::Kind::string)) {
      return a.text() == b.text();
    }
    const auto number = number_in(a);
    return number ? number == number_in(b) : a.raw() == b.raw();
  }

  std::string of_kind(JsonView value, JsonView schema, const std::string& place) {
    if (const JsonView type = schema["type"]; type) {
      bool is_one = is_type(value, type.text());
      std::string names = type.text();
      type.each([&](JsonView name) {
        is_one = is_one || is_type(value, name.text());
        names += cat(names.empty() ? "" : " or ", name.text());
      });
      if (!is_one) {
        return cat(place, " is not of type ", names);
      }
    }
    if (const JsonView all = schema["enum"]; all.is(json::Kind::array)) {
      bool is_one = false;
      all.each([&](JsonView one) { is_one = is_one || is_equal(value, one); });
      if (!is_one) {
        return cat(place, " is none of the values allowed");
      }
    }
    const JsonView only = schema["const"];
    return !only.raw().empty() && !is_equal(value, only) ? cat(place, " is not the value expected")
                                                         : "";
  }

  std::string of_size(JsonView value, JsonView schema, const std::string& place) {
    const auto outside = [&](double size, std::string_view least, std::string_view most) {
      const auto low = number_in(schema[least]);
      const auto high = number_in(schema[most]);
      return (low && size < *low) || (high && size > *high);
    };
    bool is_outside = false;
    if (const auto number = number_in(value); number) {
      const auto above = number_in(schema["exclusiveMinimum"]);
      const auto below = number_in(schema["exclusiveMaximum"]);
      is_outside = outside(*number, "minimum", "maximum") || (above && *number <= *above) ||
                   (below && *number >= *below);
    } else if (value.is(json::Kind::string)) {
      const std::string text = value.text();
      const auto inner = std::ranges::count_if(text, utf8::is_continuation);
      is_outside = outside(static_cast<double>(std::ssize(text) - inner), "minLength", "maxLength");
    } else if (value.is(json::Kind::array)) {
      double count = 0;
      value.each([&count](JsonView) { ++count; });
      is_outside = outside(count, "minItems", "maxItems");
    }
    return is_outside ? cat(place, " is outside of its limits") : "";
  }

  std::string of_members(JsonView value, JsonView schema, const std::string& place, int depth) {
    std::string why;
    const auto check = [&](JsonView inner, JsonView inner_schema, const std::string& name) {
      if (why.empty()) {
        why = mismatch(inner, inner_schema, name, depth + 1);
      }
    };
    if (value.is(json::Kind::array)) {
      std::int64_t index = 0;
      value.each([&](JsonView element) {
        check(element, schema["items"], cat(place, "[", index++, "]"));
      });
      return why;
    }
    if (!value.is(json::Kind::object)) {
      return "";
    }
    schema["required"].each([&](JsonView name) {
      if (why.empty() && value[name.text()].raw().empty()) {
        why = cat(place, ".", name.text(), " is missing");
      }
    });
    value.each_member([&](std::string_view name, JsonView member) {
      const JsonView known = schema["properties"][name];
      const bool has_patterns = static_cast<bool>(schema["patternProperties"]);
      if (!known.raw().empty()) {
        check(member, known, cat(place, ".", name));
      } else if (!has_patterns) {
        check(member, schema["additionalProperties"], cat(place, ".", name));
      }
    });
    return why;
  }

  std::string of_combinations(JsonView value, JsonView schema, const std::string& place,
                              int depth) {
    std::string why;
    schema["allOf"].each(
        [&](JsonView one) { why = why.empty() ? mismatch(value, one, place, depth + 1) : why; });
    for (const std::string_view name : {"anyOf", "oneOf"}) {
      int matches = 0;
      int count = 0;
      schema[name].each([&](JsonView one) {
        ++count;
        matches += mismatch(value, one, place, depth + 1).empty() ? 1 : 0;
      });
      if (why.empty() && count > 0 && (matches == 0 || (name == "oneOf" && matches > 1))) {
        why = cat(place, " matches ", matches == 0 ? "none" : "several", " of the forms allowed");
      }
    }
    return why;
  }

  // "#/$defs/name". An unknown one, a name, or one in another document is taken as met.
  JsonView referred(std::string_view ref) const {
    if (ref != "#" && !ref.starts_with("#/")) {
      return {};
    }
    JsonView found = root_;
    for (ref.remove_prefix(std::min<std::size_t>(ref.size(), 2)); !ref.empty();) {
      const std::size_t end = std::min(ref.find('/'), ref.size());
      found = found[ref.substr(0, end)];
      ref.remove_prefix(std::min(end + 1, ref.size()));
    }
    return found;
  }

  JsonView root_;
  int steps_ = 0;
};

}  // namespace

std::string schema_mismatch(std::string_view answer, const RawJson& schema) {
  const auto value = RawJson::parse(std::string(trimmed(answer)));
  if (!value) {
    return "it is not JSON";
  }
  const JsonView root(schema.text());
  SchemaCheck check(root);
  const std::string why = check.mismatch(JsonView(value->text()), root, "$");
  return check.is_exhausted() ? "" : why;
}

}  // namespace reprise
