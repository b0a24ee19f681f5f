#pragma once

// Values as other tools spell them.

#include <span>

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
// What a model gives to a tool: json_in() of a text, anything else as it stands.
RawJson arguments_of(JsonView value);
// A text as it is, anything else as its JSON; "" for null and for nothing.
std::string text_or_json(JsonView value);

// The members but for those in `known`, as one extra field of that name; none when nothing is left.
void add_rest(Extra& extra, std::string_view name, JsonView object,
              std::initializer_list<std::string_view> known);

// The same by itself.
Extra rest_of(std::string_view name, JsonView object,
              std::initializer_list<std::string_view> known);

ToolResultBlock tool_result(std::string call, std::string text, bool is_error = false,
                            Extra extra = {});
// The first text of content, which is a text or a list of blocks.
std::string first_text(JsonView content);
// Its texts, a line each; its other blocks go beside.
std::string text_of_result(JsonView content, std::vector<Block>& beside,
                           Block (*block_of)(JsonView part));
// A block of a kind that is no one's but the tool's.
Block unknown_block(JsonView part);

// A dollar amount that JSON spells as a number; nullopt for 0 and for what is no number.
std::optional<Money> cost_of(JsonView value);

// Adds to the usages; how many there are then, for Node::usage, or 0 for none.
std::uint32_t note_usage(std::vector<Usage>& usages, std::optional<Usage> usage);

// "true".
bool is_true(JsonView value);

// Names the session that began this one, of a sub-agent. Nothing for "".
void note_parent(Session& session, std::string_view parent);

// Marks a block whose text no person and no model wrote, in a message that has other texts.
void mark_injected(TextBlock& block);

// An image or a document that stands in a "data:" URL, or behind any other URL. Without a type it
// is that of the data, or a PNG.
ImageBlock image_at(std::string_view url);
ImageBlock image_at(std::string_view media_type, std::string_view url);
// "image/png" for a file named "a.png"; "" for what is no image.
std::string_view image_type_of(std::string_view file_name);

// The members of an object but for those that are known.
Extra extra_without(JsonView object, std::initializer_list<std::string_view> known);
// The value as it stands; null for none.
RawJson raw_of(JsonView value);
// An image as a data URL.
ImageBlock image_of(std::string_view media_type, std::string_view base64);
// Adds to what is there.
void add_extra(Extra& extra, std::string_view name, std::optional<RawJson> value);
// Marks what no person and no model wrote.
void mark_injected(Message& message);
// A time that a record names: ISO 8601, or a number of milliseconds.
std::optional<Time> time_of(JsonView value);
// The members that are not in `known`, as they stand; nothing when there is none.
std::optional<RawJson> members_without(JsonView object, std::span<const std::string_view> known);
// A title of a person's text: one line of at most 80 characters.
std::string title_of(std::string_view text);

}  // namespace reprise::source
