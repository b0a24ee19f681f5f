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

// Reads a whole object: the fields of a list (model/fields.h), all others as extra fields, and so
// is a member that stands there for the second time.
template <class Fields, class Value>
bool read_fields(json::Scanner& scanner, const Fields& fields, Value& value) {
  std::array<const void*, std::tuple_size_v<Fields>> known{};  // the fields read so far
  std::size_t count = 0;
  return scanner.object([&](std::string_view name) {
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
}

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

// Writes extra fields after the members for which `is_written` is true. Those with the same name as
// another member are nested in kOthers.
void append_extra(json::ObjectWriter& object, const Extra& extra,
                  const std::function<bool(std::string_view name)>& is_written);

// Only the shown fields, into an object that has other members, too.
void append_fields(json::ObjectWriter& object, const Usage& usage);

}  // namespace reprise::model
