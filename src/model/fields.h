#pragma once

// The fields of sessions, messages, usage and todos, each listed once. All code that reads or
// writes them by name iterates over these lists: JSON, the sidecar members of file formats,
// database columns, Store::update(). A new field needs a member of the struct and a line here, and
// a migration in databases. Extra fields are not listed: they are written last.

#include <tuple>

#include "reprise/message.h"
#include "reprise/session.h"

namespace reprise::model {

// How JSON represents an empty field.
enum class Empty : std::uint8_t {
  written,
  left_out,
  in_output,  // omitted in stored JSON only
};

template <class Owner, class Value>
struct Field {
  using Type = Value;

  std::string_view name;  // in stored JSON; must never change
  Value Owner::* member;
  std::optional<Value> SessionPatch::* patch = nullptr;
  std::string_view column = name;       // in databases; "" if they store it elsewhere
  std::string_view output_name = name;  // in the program's JSON output; "" if it is not in that
  std::string_view alias = name;        // the name that other programs use in JSON
  Empty empty = Empty::written;
  bool derived = false;  // computed by the store: never written as given
};

inline constexpr auto kInfoFields = std::tuple{
    Field{.name = "title", .member = &SessionInfo::title, .patch = &SessionPatch::title},
    Field{.name = "mode", .member = &SessionInfo::mode, .patch = &SessionPatch::mode},
    Field{.name = "state", .member = &SessionInfo::state, .patch = &SessionPatch::state},
    Field{.name = "pinned", .member = &SessionInfo::pinned, .patch = &SessionPatch::pinned},
    Field{.name = "provider", .member = &SessionInfo::provider, .patch = &SessionPatch::provider},
    Field{.name = "model", .member = &SessionInfo::model, .patch = &SessionPatch::model},
    Field{.name = "working_dir",
          .member = &SessionInfo::working_dir,
          .patch = &SessionPatch::working_dir},
    Field{.name = "head", .member = &SessionInfo::head, .output_name = "messages", .derived = true},
    Field{.name = "created_at", .member = &SessionInfo::created_at, .column = "created_us"},
    Field{.name = "updated_at", .member = &SessionInfo::updated_at, .column = "updated_us"},
    Field{.name = "arrived_at",
          .member = &SessionInfo::arrived_at,
          .column = "ahead_us",  // see exchange_activity()
          .output_name = ""},
    Field{.name = "closed_at",
          .member = &SessionInfo::closed_at,
          .patch = &SessionPatch::closed_at,
          .column = "closed_us"},
    Field{.name = "forked_from", .member = &SessionInfo::forked_from},  // and "forked_at"
};
inline constexpr std::string_view kForkedAt = "forked_at";

inline constexpr auto kSessionFields = std::tuple{
    Field{.name = "system_prompt",
          .member = &Session::system_prompt,
          .patch = &SessionPatch::system_prompt},
    Field{.name = "config", .member = &Session::config, .patch = &SessionPatch::config},
    Field{.name = "usage", .member = &Session::usage},
    Field{.name = "response_chain",
          .member = &Session::response_chain,
          .patch = &SessionPatch::response_chain},
    Field{.name = "prompt_history",
          .member = &Session::prompt_history,
          .patch = &SessionPatch::prompt_history},
    Field{.name = "extra", .member = &Session::extra, .patch = &SessionPatch::extra},
};

inline constexpr auto kUsageFields = std::tuple{
    Field{.name = "input_tokens", .member = &Usage::input},
    Field{.name = "output_tokens", .member = &Usage::output},
    Field{.name = "reasoning_tokens", .member = &Usage::reasoning},
    Field{.name = "cached_tokens", .member = &Usage::cached},
    Field{.name = "cache_written_tokens",
          .member = &Usage::cache_written,
          .column = "",
          .empty = Empty::left_out},
    Field{.name = "cost", .member = &Usage::cost, .column = "cost_nanos"},
    Field{.name = "price_source", .member = &Usage::price_source, .empty = Empty::left_out},
    Field{.name = "request_id",
          .member = &Usage::request_id,
          .column = "",
          .output_name = "",
          .empty = Empty::left_out},
};

inline constexpr auto kMessageFields = std::tuple{
    Field{.name = "seq", .member = &Message::seq, .derived = true},
    Field{.name = "role", .member = &Message::role},
    Field{.name = "state", .member = &Message::state},
    Field{.name = "created_at", .member = &Message::created_at, .column = "created_us"},
    Field{.name = "author", .member = &Message::author, .empty = Empty::left_out},
    Field{.name = "provider", .member = &Message::provider, .empty = Empty::left_out},
    Field{.name = "model", .member = &Message::model, .empty = Empty::left_out},
    Field{.name = "response_id", .member = &Message::response_id, .empty = Empty::left_out},
    Field{.name = "usage", .member = &Message::usage, .empty = Empty::left_out},
    Field{.name = "blocks", .member = &Message::blocks, .column = "content"},
};

// The members of blocks of all types, in any JSON that is not another program's, and the marks in
// their extra fields. What another program calls the same is nested under that program's name.
inline constexpr std::string_view kBlockFields[] = {
    "type", "text",       "signature", "id",       "name",     "input",    "tool_use_id",
    "blob", "media_type", "url",       "is_error", "injected", "original", "original_base64"};
// The mark, beside kInjectedField, of a message that stands for earlier ones, which the tool that
// wrote it sends no more.
inline constexpr std::string_view kSummaryMark = "summary";
// The member for extra fields that have the name of another member.
inline constexpr std::string_view kOthers = "others";

inline constexpr auto kTodoFields = std::tuple{
    Field{.name = "content", .member = &Todo::content},
    Field{.name = "status", .member = &Todo::status},
    Field{.name = "active_form",
          .member = &Todo::active_form,
          .alias = "activeForm",
          .empty = Empty::in_output},
};

// Calls visit(field) for each field.
template <class... Fields, class Visit>
constexpr void for_each(const std::tuple<Fields...>& fields, const Visit& visit) {
  std::apply([&visit](const auto&... field) { (visit(field), ...); }, fields);
}

// Calls visit(field), which returns a bool, for the field of that name. nullopt if there is none.
template <class... Fields, class Visit>
constexpr std::optional<bool> visit_named(const std::tuple<Fields...>& fields,
                                          std::string_view name, const Visit& visit) {
  std::optional<bool> result;
  const auto try_one = [&](const auto& field) {
    if (field.name == name || field.alias == name) {
      result = visit(field);
    }
    return result.has_value();
  };
  std::apply([&try_one](const auto&... field) { (void)(try_one(field) || ...); }, fields);
  return result;
}

}  // namespace reprise::model
