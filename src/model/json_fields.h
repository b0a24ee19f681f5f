#pragma once

// Reads and writes one field of a JSON object by its type. A value of an unexpected type is not
// lost: it is stored in the object's extra fields.

#include <algorithm>
#include <array>
#include <concepts>
#include <functional>
#include <vector>

#include "base/json_scan.h"
#include "base/json_write.h"
#include "model/fields.h"
#include "reprise/message.h"
#include "reprise/session.h"

namespace reprise::model {

std::string_view to_string(MessageState state);
std::optional<MessageState> parse_message_state(std::string_view text);

// Adds the value, or the members of kOthers.
bool add_extra(json::Scanner& scanner, std::string_view name, Extra& extra);
// False when the JSON is malformed.
bool read_field(json::Scanner& scanner, std::string_view name, std::string& out, Extra& extra);
bool read_field(json::Scanner& scanner, std::string_view name, std::int64_t& out, Extra& extra);
bool read_field(json::Scanner& scanner, std::string_view name, TokenCount& out, Extra& extra);
bool read_field(json::Scanner& scanner, std::string_view name, Seq& out, Extra& extra);
bool read_field(json::Scanner& scanner, std::string_view name, std::optional<Money>& out,
                Extra& extra);
bool read_field(json::Scanner& scanner, std::string_view name, Time& out, Extra& extra);
bool read_field(json::Scanner& scanner, std::string_view name, MessageState& out, Extra& extra);
bool read_field(json::Scanner& scanner, std::string_view name, std::optional<Author>& out,
                Extra& extra);
bool read_field(json::Scanner& scanner, std::string_view name, TodoStatus& out, Extra& extra);
bool read_field(json::Scanner& scanner, std::string_view name, std::optional<Usage>& out,
                Extra& extra);
bool read_field(json::Scanner& scanner, std::string_view name, std::vector<Block>& out,
                Extra& extra);

// Whether the field may be omitted.
inline bool is_empty(const std::string& text) {
  return text.empty();
}
template <class Value>
bool is_empty(const Value& value) {
  return value == Value{};
}

// The purpose of JSON output.
enum class JsonForm : std::uint8_t {
  stored,  // for Reprise itself: empty fields are omitted
  output,  // for scripts: all fields are present, unknown times are null
};

void append_json(std::string& out, std::string_view text, JsonForm form);
template <std::same_as<bool> Flag>
void append_json(std::string& out, Flag flag, JsonForm /*form*/) {
  out += flag ? "true" : "false";
}
void append_json(std::string& out, TokenCount count, JsonForm form);
void append_json(std::string& out, Seq seq, JsonForm form);
void append_json(std::string& out, const std::optional<Money>& money, JsonForm form);
void append_json(std::string& out, Time time, JsonForm form);
void append_json(std::string& out, const std::optional<Time>& time, JsonForm form);
void append_json(std::string& out, MessageState state, JsonForm form);
void append_json(std::string& out, const std::optional<Author>& author, JsonForm form);
void append_json(std::string& out, SessionState state, JsonForm form);
void append_json(std::string& out, TodoStatus status, JsonForm form);
void append_json(std::string& out, const Usage& usage, JsonForm form);
void append_json(std::string& out, const std::optional<Usage>& usage, JsonForm form);
void append_json(std::string& out, const std::vector<Block>& blocks, JsonForm form);
void append_json(std::string& out, const Message& message, JsonForm form);
void append_json(std::string& out, const std::vector<Todo>& todos, JsonForm form);

// Whether an extra field would be taken for one of the members if it stood beside them.
using IsMember = std::function<bool(std::string_view name, const RawJson& value)>;
// Writes extra fields after the members. Those that would be taken for one, and those that are
// repeated, are nested in kOthers.
void append_extra(json::ObjectWriter& object, const Extra& extra, const IsMember& is_member);
// Puts those that are nested behind the others, as they are read again.
void order_extra(Extra& extra, const IsMember& is_member);

template <class Owner, class Value>
bool is_written(const Field<Owner, Value>& field, const Owner& owner, JsonForm form) {
  return field.empty == Empty::written ||
         (field.empty == Empty::in_output && form == JsonForm::output) ||
         !is_empty(owner.*field.member);
}

// A field that is left out takes every value that it can read.
template <class Fields, class Value>
bool is_member(const Fields& fields, const Value& value, JsonForm form, std::string_view name,
               const RawJson& raw) {
  const auto taken = visit_named(fields, name, [&](const auto& field) {
    if (is_written(field, value, form)) {
      return field.name == name;
    }
    typename std::remove_cvref_t<decltype(field)>::Type unused{};
    Extra kept;
    json::Scanner scanner(raw.text());
    return read_field(scanner, name, unused, kept) && kept.empty();
  });
  return taken.value_or(false);
}

// Reads a whole object: the fields of a list (model/fields.h), all others as extra fields, and so
// is a member that stands there for the second time. What is written of it is read as the same.
template <class Fields, class Value>
bool read_fields(json::Scanner& scanner, const Fields& fields, Value& value) {
  std::array<const void*, std::tuple_size_v<Fields>> known{};  // the fields read so far
  std::size_t count = 0;
  const bool is_whole = scanner.object([&](std::string_view name) {
    const auto read = visit_named(fields, name, [&](const auto& field) {
      if (std::ranges::find(known, &field) != known.end()) {
        return add_extra(scanner, name, value.extra);
      }
      const std::size_t before = value.extra.size();
      const bool is_read = read_field(scanner, name, value.*field.member, value.extra);
      if (value.extra.size() == before) {
        known.at(count++) = &field;
      }
      return is_read;
    });
    return read ? *read : add_extra(scanner, name, value.extra);
  });
  order_extra(value.extra, [&](std::string_view name, const RawJson& raw) {
    return is_member(fields, value, JsonForm::stored, name, raw);
  });
  return is_whole;
}

// Only the shown fields, into an object that has other members, too.
void append_fields(json::ObjectWriter& object, const Usage& usage);

}  // namespace reprise::model
