#pragma once

// One type for the values of settings and request options, whatever member holds them. A row of a
// table names the member with bind(); everything else is written once for each kind of value.

#include <algorithm>
#include <iterator>
#include <map>          // IWYU pragma: export
#include <type_traits>  // IWYU pragma: export
#include <variant>      // IWYU pragma: export

#include "base/text.h"      // IWYU pragma: export
#include "reprise/types.h"  // IWYU pragma: export

namespace reprise::provider {

using TextTable = std::map<std::string, std::string, std::less<>>;
using Value = std::variant<std::string, bool, std::int64_t, double, std::vector<std::string>,
                           TextTable, RawJson>;
// In the order of Value.
enum class ValueKind : std::uint8_t { text, truth, whole, number, list, table_of_texts, table };

template <class Content, class... Contents>
consteval ValueKind kind_in(std::type_identity<std::variant<Contents...>> /*all*/) {
  const bool is_it[] = {std::is_same_v<Content, Contents>...};
  return static_cast<ValueKind>(std::ranges::find(is_it, true) - std::begin(is_it));
}

// How a member of a type holds a value: in an optional, or else "", empty and null are unset.
template <class Type>
struct Held {
  using Content = Type;
  static std::optional<Value> get(const Type& member) {
    if constexpr (std::is_same_v<Type, RawJson>) {
      return member.is_null() ? std::nullopt : std::optional<Value>(member);
    } else {
      return member.empty() ? std::nullopt : std::optional<Value>(member);
    }
  }
  static void set(Type& member, Content content) {
    if constexpr (std::is_same_v<Type, TextTable>) {
      content.merge(std::move(member));  // each text has its own origin
    }
    member = std::move(content);
  }
};
template <class Type>
struct Held<std::optional<Type>> {
  using Content = Type;
  static std::optional<Value> get(const std::optional<Type>& member) { return member; }
  static void set(std::optional<Type>& member, Content content) { member = std::move(content); }
};

// Access to one member of an Owner.
template <class Owner>
struct Slot {
  ValueKind kind;
  std::optional<Value> (*get)(const Owner& owner);  // nullopt if it is not set
  void (*set)(Owner& owner, Value value);           // a value of that kind
};

template <auto Member>
struct MemberOf;
template <class Class, class Type, Type Class::* Member>
struct MemberOf<Member> {
  using Owner = Class;
  using Holder = Held<Type>;
};

template <auto Member>
constexpr auto bind() {
  using Owner = MemberOf<Member>::Owner;
  using Holder = MemberOf<Member>::Holder;
  using Content = Holder::Content;
  return Slot<Owner>{
      .kind = kind_in<Content>(std::type_identity<Value>()),
      .get = [](const Owner& owner) { return Holder::get(owner.*Member); },
      .set = [](Owner& owner,
                Value value) { Holder::set(owner.*Member, std::get<Content>(std::move(value))); }};
}

// The value that a text means; nullopt if it means none of that kind, or a number out of range.
// One text is a list, too; several are a JSON array.
std::optional<Value> parse_value(ValueKind kind, std::string_view text, const NumberRange& range);

// What parse_value() accepts: "true or false", "a whole number of 1 or more".
std::string expected_text(ValueKind kind, const NumberRange& range);

std::string value_json(const Value& value);

}  // namespace reprise::provider
