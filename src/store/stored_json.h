#pragma once

// Parts of a session as JSON, the same in every store that keeps them so. What is read back and is
// no such JSON is empty, unless the function says otherwise.

#include "base/json_write.h"
#include "reprise/capabilities.h"

namespace reprise::store {

std::string extra_to_json(const Extra& extra);
Extra extra_from_json(std::string_view json);
std::vector<std::string> strings_from_json(std::string_view json);
std::string messages_to_json(const std::vector<Message>& messages);
// nullopt when one of them cannot be read.
std::optional<std::vector<Message>> messages_from_json(std::string_view json);
std::string chain_to_json(const std::vector<ResponseLink>& chain);
std::vector<ResponseLink> chain_from_json(std::string_view json);

// A field of a session as text: as it is, or as the JSON above.
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
void from_text(std::string_view text, RawJson& out);  // what it was for text that is no JSON
void from_text(std::string_view text, std::vector<ResponseLink>& out);
void from_text(std::string_view text, std::vector<std::string>& out);
void from_text(std::string_view text, Extra& out);

// The beginning of a running answer, and the answer without its blocks. invalid_argument or corrupt
// when the JSON is none.
std::string answer_to_json(const PartialStart& start);
Result<Partial> answer_from_json(std::string_view json);
std::string lease_to_json(const Lease& lease);
// nullopt when it is none that a process could hold.
std::optional<Lease> lease_from_json(std::string_view json);

}  // namespace reprise::store
