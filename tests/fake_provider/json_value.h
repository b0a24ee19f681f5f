#pragma once

// A JSON document as a tree, and the checks of a request's fields. Stricter than JSON: bytes that
// are not UTF-8, lone surrogates and repeated keys are errors, like at a real provider.

#include <initializer_list>

#include "base/json_scan.h"

namespace reprise::fake {

using json::Kind;

struct Member;

struct Value {
  Kind kind = Kind::none;  // none: what find() returns for a missing member
  std::string text;        // a decoded string; anything else as it was spelled
  std::vector<Member> members;
  std::vector<Value> items;

  // The member of this name, or a value of Kind::none.
  const Value& find(std::string_view name) const;
  bool has(std::string_view name) const { return find(name).kind != Kind::none; }
  bool is(Kind other) const { return kind == other; }
  bool is_true() const { return kind == Kind::boolean && text == "true"; }
  double number() const;  // 0 for anything else
};

struct Member {
  std::string name;
  Value value;
};

Result<Value> parse_value(std::string_view text);

// The requirements of a field.
enum class Need : std::uint8_t { required, optional, nullable };
struct Field {
  std::string_view name;
  Kind kind = Kind::string;
  Kind or_kind = Kind::none;  // a second kind that is accepted too
  Need need = Need::optional;
};

// `object` must be an object with no other fields than these. `path` names it in the message:
// "messages[3].content[0]", "" for the body.
Result<> check_fields(const Value& object, std::string_view path,
                      std::initializer_list<Field> fields);

// The error for a violation of the protocol.
std::unexpected<Error> refuse(std::string message);

Result<> check_not_empty(const Value& text, std::string_view path);

}  // namespace reprise::fake
