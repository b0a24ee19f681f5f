#include "model/json_fields.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/text.h"
#include "model/fields.h"
#include "model/known_time.h"
#include "reprise/message.h"
#include "reprise/session.h"

namespace reprise::model {
namespace {

// Reads a value with `parse`; a value for which it returns nullopt goes to `extra`.
template <class Value, class Parse>
bool parse_field(json::Scanner& scanner, std::string_view name, Value& out, Extra& extra,
                 const Parse& parse) {
  std::string_view raw;
  if (!scanner.raw(raw)) {
    return false;
  }
  if (auto value = parse(raw)) {
    out = *value;
  } else {
    extra.push_back({std::string(name), json::take(raw)});
  }
  return true;
}

// The same for strings without escapes.
template <class Value, class Parse>
bool parse_text_or_keep(json::Scanner& scanner, std::string_view name, Value& out, Extra& extra,
                        const Parse& parse) {
  return parse_field(scanner, name, out, extra, [&parse](std::string_view raw) {
    return raw.starts_with('"') ? parse(raw.substr(1, raw.size() - 2))
                                : decltype(parse(raw))(std::nullopt);
  });
}

template <class Fields, class Value>
void append_object(std::string& out, const Fields& fields, const Value& value, JsonForm form) {
  json::ObjectWriter object(out);
  for_each(fields, [&](const auto& field) {
    if (is_written(field, value, form)) {
      append_json(object.key(field.name), value.*field.member, form);
    }
  });
  if (value.extra.empty()) {
    object.close();
    return;
  }
  append_extra(object, value.extra, [&](std::string_view name, const RawJson& raw) {
    return is_member(fields, value, form, name, raw);
  });
  object.close();
}

bool is_nested(Extra::const_iterator begin, Extra::const_iterator field,
               const IsMember& is_member) {
  const auto is_same = [&](const ExtraField& before) { return before.name == field->name; };
  return field->name == kOthers || std::any_of(begin, field, is_same) ||
         is_member(field->name, field->value);
}

}  // namespace

void append_extra(json::ObjectWriter& object, const Extra& extra, const IsMember& is_member) {
  std::string others;
  for (auto field = extra.begin(); field != extra.end(); ++field) {
    if (!is_nested(extra.begin(), field, is_member)) {
      object.raw(field->name, field->value.text());
      continue;
    }
    others += cat(others.empty() ? "{" : ",", json::quoted(field->name), ":", field->value.text());
  }
  if (!others.empty()) {
    object.raw(kOthers, others += "}");
  }
}

void order_extra(Extra& extra, const IsMember& is_member) {
  if (extra.size() < 2) {
    return;
  }
  std::vector<bool> nested;
  for (auto field = extra.begin(); field != extra.end(); ++field) {
    nested.push_back(is_nested(extra.begin(), field, is_member));
  }
  if (std::ranges::is_sorted(nested)) {
    return;
  }
  Extra ordered;
  for (const bool is_last : {false, true}) {
    for (std::size_t i = 0; i < extra.size(); ++i) {
      if (nested[i] == is_last) {
        ordered.push_back(std::move(extra[i]));
      }
    }
  }
  extra = std::move(ordered);
}

std::string_view to_string(MessageState state) {
  return state == MessageState::complete ? "complete" : "incomplete";
}

std::optional<MessageState> parse_message_state(std::string_view text) {
  for (const MessageState state : {MessageState::complete, MessageState::incomplete}) {
    if (text == to_string(state)) {
      return state;
    }
  }
  return std::nullopt;
}

bool add_extra(json::Scanner& scanner, std::string_view name, Extra& extra) {
  std::string_view raw;
  if (name == kOthers && scanner.kind() == json::Kind::object) {
    return scanner.object([&](std::string_view nested) {
      const bool is_read = scanner.raw(raw);
      extra.push_back({std::string(nested), is_read ? json::take(raw) : RawJson()});
      return is_read;
    });
  }
  if (!scanner.raw(raw)) {
    return false;
  }
  extra.push_back({std::string(name), json::take(raw)});
  return true;
}

bool read_field(json::Scanner& scanner, std::string_view name, std::string& out, Extra& extra) {
  return scanner.kind() == json::Kind::string ? scanner.string(out)
                                              : add_extra(scanner, name, extra);
}

bool read_field(json::Scanner& scanner, std::string_view name, std::int64_t& out, Extra& extra) {
  std::string_view raw;
  if (!scanner.raw(raw)) {
    return false;
  }
  const char* const last = raw.data() + raw.size();
  // Fractions are truncated.
  if (const auto [end, code] = std::from_chars(raw.data(), last, out);
      code != std::errc{} || end != last) {
    extra.push_back({std::string(name), json::take(raw)});
  }
  return true;
}

bool read_field(json::Scanner& scanner, std::string_view name, TokenCount& out, Extra& extra) {
  return read_field(scanner, name, out.value, extra);
}

bool read_field(json::Scanner& scanner, std::string_view name, Seq& out, Extra& extra) {
  json::Scanner ahead = scanner;
  if (std::int64_t seq = 0; ahead.integer(seq) && (seq < 0 || seq > kSeqMax.value)) {
    return add_extra(scanner, name, extra);
  }
  return read_field(scanner, name, out.value, extra);
}

bool read_field(json::Scanner& scanner, std::string_view name, std::optional<Money>& out,
                Extra& extra) {
  if (scanner.kind() == json::Kind::null) {
    out.reset();
    return scanner.null();
  }
  return parse_field(scanner, name, out, extra, Money::parse);
}

bool read_field(json::Scanner& scanner, std::string_view name, Time& out, Extra& extra) {
  if (scanner.kind() == json::Kind::null) {
    out = kUnknownTime;
    return scanner.null();
  }
  return parse_text_or_keep(scanner, name, out, extra, parse_time);
}

bool read_field(json::Scanner& scanner, std::string_view name, MessageState& out, Extra& extra) {
  return parse_text_or_keep(scanner, name, out, extra, parse_message_state);
}

bool read_field(json::Scanner& scanner, std::string_view name, std::optional<Author>& out,
                Extra& extra) {
  return parse_field(scanner, name, out, extra, [](std::string_view raw) {
    std::string text;
    json::Scanner value(raw);
    const bool is_text = value.kind() == json::Kind::string && value.string(text);
    auto author = Author::parse(text);
    return is_text && author ? std::optional(*std::move(author)) : std::nullopt;
  });
}

bool read_field(json::Scanner& scanner, std::string_view name, TodoStatus& out, Extra& extra) {
  return parse_text_or_keep(scanner, name, out, extra, parse_todo_status);
}

bool read_field(json::Scanner& scanner, std::string_view name, std::optional<Usage>& out,
                Extra& extra) {
  return scanner.kind() == json::Kind::object ? read_fields(scanner, kUsageFields, out.emplace())
                                              : add_extra(scanner, name, extra);
}

void append_json(std::string& out, std::string_view text, JsonForm /*form*/) {
  json::append_string(out, text);
}

void append_json(std::string& out, TokenCount count, JsonForm /*form*/) {
  out += std::to_string(count.value);
}

void append_json(std::string& out, Seq seq, JsonForm /*form*/) {
  out += std::to_string(seq.value);
}

void append_json(std::string& out, const std::optional<Money>& money, JsonForm /*form*/) {
  out += money ? money->str() : "null";
}

void append_json(std::string& out, Time time, JsonForm /*form*/) {
  if (is_known(time)) {
    json::append_string(out, format_time(time));
  } else {
    out += "null";
  }
}

void append_json(std::string& out, const std::optional<Time>& time, JsonForm form) {
  if (time) {
    append_json(out, *time, form);
  } else {
    out += form == JsonForm::output ? "null" : R"("")";
  }
}

void append_json(std::string& out, MessageState state, JsonForm /*form*/) {
  json::append_string(out, to_string(state));
}

void append_json(std::string& out, const std::optional<Author>& author, JsonForm /*form*/) {
  json::append_string(out, author ? author->str() : "");
}

void append_json(std::string& out, SessionState state, JsonForm /*form*/) {
  json::append_string(out, reprise::to_string(state));
}

void append_json(std::string& out, TodoStatus status, JsonForm /*form*/) {
  json::append_string(out, reprise::to_string(status));
}

// Prints the source of the price only together with a cost.
void append_fields(json::ObjectWriter& object, const Usage& usage) {
  for_each(kUsageFields, [&](const auto& field) {
    const bool exists = field.name == "price_source" ? usage.cost.has_value()
                                                     : is_written(field, usage, JsonForm::output);
    if (exists && !field.output_name.empty()) {
      append_json(object.key(field.output_name), usage.*field.member, JsonForm::output);
    }
  });
}

void append_json(std::string& out, const Usage& usage, JsonForm form) {
  if (form == JsonForm::stored) {
    return append_object(out, kUsageFields, usage, form);
  }
  json::ObjectWriter object(out);
  append_fields(object, usage);
  object.close();
}

void append_json(std::string& out, const std::optional<Usage>& usage, JsonForm form) {
  if (usage) {
    append_json(out, *usage, form);
  } else {
    out += "null";
  }
}

void append_json(std::string& out, const Message& message, JsonForm form) {
  append_object(out, kMessageFields, message, form);
}

void append_json(std::string& out, const std::vector<Todo>& todos, JsonForm form) {
  json::ArrayWriter array(out);
  for (const Todo& todo : todos) {
    array.item();
    Todo written = todo;
    if (form == JsonForm::output && todo.active_form.empty()) {
      written.active_form = todo.content;
    }
    append_object(out, kTodoFields, written, form);
  }
  array.close();
}

}  // namespace reprise::model
