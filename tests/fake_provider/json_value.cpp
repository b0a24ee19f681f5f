#include "fake_provider/json_value.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>

#include "base/json_scan.h"
#include "base/text.h"
#include "base/utf8.h"

namespace reprise::fake {
namespace {

bool read_value(json::Scanner& scanner, Value& out);

bool read_object(json::Scanner& scanner, Value& out) {
  return scanner.object([&](std::string_view key) {
    if (out.has(key)) {
      return scanner.fail("a key stands there twice");
    }
    out.members.push_back({std::string(key), Value{}});
    return read_value(scanner, out.members.back().value);
  });
}

bool read_value(json::Scanner& scanner, Value& out) {
  out.kind = scanner.kind();
  switch (out.kind) {
    case Kind::object:
      return read_object(scanner, out);
    case Kind::array:
      return scanner.array([&] { return read_value(scanner, out.items.emplace_back()); });
    case Kind::string:
      return scanner.string(out.text) &&
             (!scanner.lossy() || scanner.fail("a lone surrogate or bad UTF-8 in a string"));
    default: {
      std::string_view raw;
      if (!scanner.raw(raw)) {
        return false;
      }
      out.text = raw;
      return true;
    }
  }
}

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::object:
      return "an object";
    case Kind::array:
      return "an array";
    case Kind::string:
      return "a string";
    case Kind::number:
      return "a number";
    case Kind::boolean:
      return "a boolean";
    case Kind::null:
      return "null";
    case Kind::none:
      break;
  }
  return "nothing";
}

std::string join(std::string_view path, std::string_view name) {
  return path.empty() ? std::string(name) : cat(path, ".", name);
}

Result<> check_field(const Value& value, const std::string& path, const Field& field) {
  if (value.is(Kind::none)) {
    if (field.need == Need::required) {
      return refuse(cat(path, ": field required"));
    }
    return {};
  }
  const bool fits = value.is(field.kind) || value.is(field.or_kind) ||
                    (value.is(Kind::null) && field.need == Need::nullable);
  if (!fits) {
    return fail(Code::invalid_argument,
                cat(path, ": should be ", kind_name(field.kind), ", is ", kind_name(value.kind)));
  }
  return {};
}

}  // namespace

const Value& Value::find(std::string_view name) const {
  static const Value nothing;
  const auto found = std::ranges::find(members, name, &Member::name);
  return found == members.end() ? nothing : found->value;
}

double Value::number() const {
  double out = 0;
  if (kind == Kind::number) {
    (void)std::from_chars(text.data(), text.data() + text.size(), out);  // checked by the scanner
  }
  return out;
}

Result<Value> parse_value(std::string_view text) {
  if (const std::size_t good = utf8::valid_prefix(text); good != text.size()) {
    return refuse(cat("the body is not UTF-8 at byte ", good));
  }
  Value out;
  json::Scanner scanner(text);
  if (!read_value(scanner, out) || !scanner.end()) {
    return refuse(scanner.fault().message);
  }
  return out;
}

Result<> check_fields(const Value& object, std::string_view path,
                      std::initializer_list<Field> fields) {
  if (!object.is(Kind::object)) {
    return refuse(cat(path.empty() ? "body" : path, ": should be an object"));
  }
  for (const Field& field : fields) {
    REPRISE_TRY(check_field(object.find(field.name), join(path, field.name), field));
  }
  for (const auto& [name, value] : object.members) {
    const bool known =
        std::ranges::any_of(fields, [&](const Field& field) { return field.name == name; });
    if (!known) {
      return refuse(cat(join(path, name), ": unknown field"));
    }
  }
  return {};
}

std::unexpected<Error> refuse(std::string message) {
  return fail(Code::invalid_argument, std::move(message));
}

Result<> check_not_empty(const Value& text, std::string_view path) {
  if (trimmed(text.text).empty()) {
    return refuse(cat(path, ": must not be empty"));
  }
  return {};
}

}  // namespace reprise::fake
