#pragma once

// Parts of a session as JSON, shared by the stores, and the deltas of a running answer. JSON that
// cannot be read yields an empty value unless the function documents otherwise.

#include <span>

#include "base/json_write.h"
#include "reprise/capabilities.h"
#include "reprise/message.h"
#include "reprise/store.h"

namespace reprise::store {

std::string extra_to_json(const Extra& extra);
Extra extra_from_json(std::string_view json);
std::vector<std::string> strings_from_json(std::string_view json);
std::string messages_to_json(const std::vector<Message>& messages);
// nullopt if one of them cannot be read.
std::optional<std::vector<Message>> messages_from_json(std::string_view json);
std::string chain_to_json(const std::vector<ResponseLink>& chain);
std::vector<ResponseLink> chain_from_json(std::string_view json);

// A field of a session as text: strings unchanged, other types as the JSON above.
inline std::string to_text(const std::string& text) {
  return text;
}
inline std::string to_text(const RawJson& json) {
  return json.text();
}
inline std::string to_text(const std::vector<ResponseLink>& chain) {
  return chain_to_json(chain);
}
inline std::string to_text(const std::vector<std::string>& strings) {
  return json::array_of(strings);
}
inline std::string to_text(const Extra& extra) {
  return extra_to_json(extra);
}
void from_text(std::string_view text, std::string& out);
void from_text(std::string_view text, RawJson& out);  // unchanged if the text is not JSON
void from_text(std::string_view text, std::vector<ResponseLink>& out);
void from_text(std::string_view text, std::vector<std::string>& out);
void from_text(std::string_view text, Extra& out);

// The start of a running answer, and the answer without its blocks. invalid_argument or corrupt for
// malformed JSON.
inline PartialStart start_of(const Partial& partial) {
  return {partial.answer, partial.owner, partial.provider, partial.model, partial.started_at};
}
inline Partial partial_of(const PartialStart& start) {
  return {start.answer, start.owner, start.provider, start.model, start.started_at, {}};
}
std::string answer_to_json(const PartialStart& start);
Result<Partial> answer_from_json(std::string_view json);
std::string lease_to_json(const Lease& lease);
// nullopt if it is not a lease that a process could hold.
std::optional<Lease> lease_from_json(std::string_view json);

// A running answer grows by deltas, each with the blocks received since the previous one.

// Appends `delta` to `blocks`. Its first block continues the last one of `blocks` if both are text
// or both are thinking (text and signature are appended), or if both are the same tool use. The
// input of a running tool use arrives as JSON strings, which are joined into one; an input that is
// not a string is complete and replaces the earlier ones. Extra fields are added to the existing
// ones.
void append_delta(std::vector<Block>& blocks, std::span<const Block> delta);

}  // namespace reprise::store
