#pragma once

// Pieces of requests that are the same in all protocols.

#include "base/http.h"
#include "base/json_view.h"
#include "reprise/message.h"

namespace reprise::provider {

// The shortest spelling that reads back as the same number.
std::string spelled(double number);

// JSON that every parser takes: escapes of lone surrogates become U+FFFD (a provider refuses them,
// and would at every later request of this conversation too).
std::string sendable(const RawJson& json);

// A tool call's input as the JSON object all providers insist on: `{}` for nothing, and what is no
// object (a model's broken JSON, kept as a string) as {"input":…}.
std::string object_input(const RawJson& input);

// A block that only the server it came from understands, with that server's host in it, and without
// it again. The block is one JSON object; an empty host marks nothing.
std::string with_host(std::string_view block, std::string_view host);
std::string without_host(const RawJson& block);
std::string host_in(const RawJson& block);  // "" for none

// "Authorization: Bearer KEY"; nothing without a key.
std::vector<http::Header> bearer_headers(std::string_view api_key);

// What a request has cost, where a router says it in the usage.
void take_cost(JsonView usage_json, Usage& usage);

// What a tool gave back; never empty, as some servers refuse empty content.
std::string_view result_text(const ToolResultBlock& result);

// `data:image/png;base64,…`, taken apart; empty fields for other URLs.
struct DataUrl {
  std::string_view media_type;
  std::string_view base64;
};
DataUrl parse_data_url(std::string_view url);

// A usage's request id: the response's if it has one that others do not have too, else the HTTP
// answer's, else a new one. (Some local servers number their answers below 1,000.)
std::string request_id_of(std::string_view response_id, std::string_view http_id);

}  // namespace reprise::provider
