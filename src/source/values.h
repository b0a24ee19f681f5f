#pragma once

// Values as other tools write them.

#include <chrono>      // IWYU pragma: export
#include <filesystem>  // IWYU pragma: export
#include <span>

#include "base/json_view.h"   // IWYU pragma: export
#include "reprise/message.h"  // IWYU pragma: export
#include "reprise/session.h"

namespace reprise::source {

// A number of seconds (possibly fractional), milliseconds, microseconds or nanoseconds since 1970,
// told apart by magnitude, or an ISO 8601 text. nullopt for 0 and anything else.
std::optional<Time> sniffed_time(JsonView value);
std::optional<Time> sniffed_time(double number);
std::optional<Time> sniffed_time(std::string_view text);

// The tool's id. Bytes that are invalid in our ids become '-', and a hash of the whole is appended
// to keep different ids different.
SessionId session_id_of(std::string_view foreign);
// The id of a session whose name is unique only in its folder: the name with a hash of the folder.
SessionId session_id_in_folder(std::string_view name, const std::filesystem::path& file);
// Whether the id may be such a replacement.
bool is_generated_id(const SessionId& id);

// The value of a text that holds JSON; any other text as a JSON string.
RawJson json_in(std::string_view text);
// The arguments of a tool call: json_in() of a text, anything else unchanged.
RawJson arguments_of(JsonView value);
// A text unchanged, anything else as JSON; "" for null or a missing value.
std::string text_or_json(JsonView value);

// Adds the members not in `known` as one extra field of that name, if there are any.
void add_unknown_members(Extra& extra, std::string_view name, JsonView object,
                         std::initializer_list<std::string_view> known);

// The same as a new value.
Extra unknown_members(std::string_view name, JsonView object,
                      std::initializer_list<std::string_view> known);

ToolResultBlock tool_result(std::string call, std::string text, bool is_error = false,
                            Extra extra = {});
// The first text of content, which is a text or a list of blocks.
std::string first_text(JsonView content);
// Its texts, one per line; other blocks are added to `beside`.
std::string text_of_result(JsonView content, std::vector<Block>& beside,
                           Block (*block_of)(JsonView part));
// A block of a kind that only the tool knows.
Block unknown_block(JsonView part);

// A dollar amount given as a JSON number; nullopt for anything else.
std::optional<Money> cost_of(JsonView value);

// Whether there are tokens, or a cost other than 0.
bool has_usage(const Usage& usage);

// Appends to the usages; returns their count, for Node::usage, or 0 if there is no usage.
std::uint32_t note_usage(std::vector<Usage>& usages, std::optional<Usage> usage);

// Whether the value is the JSON literal true.
bool is_true(JsonView value);

// Records the parent of a sub-agent's session. Does nothing for "".
void note_parent(Session& session, std::string_view parent);

// Marks a block that neither user nor model wrote, in a message that has other texts.
void mark_injected(TextBlock& block);

// An image or a document at a URL. Its type is the one in a "data:" URL, otherwise image/png.
ImageBlock image_at(std::string_view url);
ImageBlock image_at(std::string_view media_type, std::string_view url);

// The members of a tool's object that are not in `known`. Those with the name of one of our own
// (model/fields.h) are nested in one with the tool's name.
Extra extra_without(std::string_view tool, JsonView object,
                    std::initializer_list<std::string_view> known);
// The value as raw JSON; null if missing.
RawJson raw_of(JsonView value);
// An image as a data URL.
ImageBlock image_of(std::string_view media_type, std::string_view base64);
// Appends to existing values.
void add_extra(Extra& extra, std::string_view name, std::optional<RawJson> value);
// What a sub-agent is asked comes from the model that started it: marks it as injected.
void mark_task(bool is_child, Message& message);
// Marks a message that neither user nor model wrote.
void mark_injected(Message& message);
// Of an injected message: it stands for those before it (model::kSummaryMark).
void mark_summary(Message& message);
// A time in a record: ISO 8601, or a number of milliseconds.
std::optional<Time> time_of(JsonView value);
// The members that are not in `known`, unchanged; nullopt if there are none.
std::optional<RawJson> members_without(JsonView object, std::span<const std::string_view> known);
// The members of a truncated or damaged object before the damage, and of an array with the damage,
// the elements before it: the text up to there, with brackets added. "" if there are none.
std::string intact_beginning(std::string_view text);
inline constexpr std::string_view kCutDocument =
    "truncated or damaged; everything before that is shown";
// A title made from the user's text: one line of at most 80 characters.
std::string title_of(std::string_view text);

}  // namespace reprise::source
