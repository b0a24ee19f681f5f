#pragma once

// Parts of requests common to all protocols.

#include <span>

#include "base/http.h"
#include "base/json_view.h"
#include "reprise/message.h"

namespace reprise::provider {

// The shortest representation that parses to the same number.
std::string number_to_json(double number);

// JSON that every parser accepts: escapes of lone surrogates become U+FFFD (a provider would reject
// this and all later requests of the conversation).
std::string sendable(const RawJson& json);

// A tool call's input as a JSON object, which all providers require: `{}` for nothing, {"input":…}
// for anything that is not an object (malformed JSON of a model, stored as a string).
std::string object_input(const RawJson& input);

// "Authorization: Bearer KEY"; empty without a key.
std::vector<http::Header> bearer_headers(std::string_view api_key);

// A count of tokens: some servers write 12.0. 0 for anything else.
std::int64_t token_count(JsonView number);

// Reads the cost of a request, which routers add to the usage.
void read_cost(JsonView usage_json, Usage& usage);

// Whether a member says anything: not null, and not an empty string, list or object.
bool has_value(JsonView member);

// The members of an object that are not in `known` and have a value, as an object; "" for none.
std::string unknown_members(JsonView object, std::span<const std::string_view> known);

// Whether a JSON array has any element.
bool has_elements(JsonView array);

// The result of a tool; never empty, since some servers reject empty content.
std::string_view result_text(const ToolResultBlock& result);

// The parts of `data:image/png;base64,…`; empty fields for other URLs.
struct DataUrl {
  std::string_view media_type;
  std::string_view base64;
};
DataUrl parse_data_url(std::string_view url);

// The request id of a usage: the response's id if it is unique, else the HTTP header's, else a new
// one. (Some local servers number their responses below 1,000.)
std::string request_id_of(std::string_view response_id, std::string_view http_id);

}  // namespace reprise::provider
