#pragma once

// Values as other tools spell them.

#include <optional>
#include <string>
#include <string_view>

#include "base/json_view.h"
#include "reprise/session.h"

namespace reprise::source {

// A number of seconds (with or without a fraction), milliseconds, microseconds or nanoseconds since
// 1970, told apart by how large it is, or a text in ISO 8601. nullopt for 0 and for what is no
// time.
std::optional<Time> sniffed_time(JsonView value);
std::optional<Time> sniffed_time(double number);
std::optional<Time> sniffed_time(std::string_view text);

// The tool's id; where it has bytes that no id of ours may have, these become '-' and a hash of
// the whole is at its end, so that different ids stay different.
SessionId session_id_of(std::string_view foreign);
// Whether it may be one of those, and not the tool's own.
bool is_made_id(const SessionId& id);

// The value of a text that holds JSON; of any other text, a JSON string.
RawJson json_in(std::string_view text);
// A text as it is, anything else as its JSON; "" for null and for nothing.
std::string text_or_json(JsonView value);

// The members but for those in `known`, as one extra field of that name; none when nothing is left.
void add_rest(Extra& extra, std::string_view name, JsonView object,
              std::initializer_list<std::string_view> known);

// A dollar amount that JSON spells as a number; nullopt for 0 and for what is no number.
std::optional<Money> cost_of(JsonView value);

// "true".
bool is_true(JsonView value);

// Names the session that began this one, of a sub-agent. Nothing for "".
void note_parent(Session& session, std::string_view parent);

// Marks a block whose text no person and no model wrote, in a message that has other texts.
void mark_injected(TextBlock& block);

// An image or a document that stands in a "data:" URL, or behind any other URL.
ImageBlock image_at(std::string_view media_type, std::string_view url);
// "image/png" for a file named "a.png"; "" for what is no image.
std::string_view image_type_of(std::string_view file_name);

}  // namespace reprise::source
