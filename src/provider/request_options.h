#pragma once

// The request options as a table, shared by settings, flags and protocols, and their representation
// in a body.

#include "provider/value.h"  // IWYU pragma: export
#include "reprise/provider.h"

namespace reprise::provider {

struct RequestOption {
  std::string_view name;  // of the setting, and of --set
  Slot<RequestOptions> slot;
  std::string_view help;                       // one line, lower case, no full stop
  std::vector<std::string_view> choices = {};  // all accepted values; empty: any
  NumberRange range = {};                      // of a number
};

// In the order in which they are written to a body: a later one overrides the same field.
std::span<const RequestOption> request_options();
const RequestOption* find_request_option(std::string_view name);

// The value as JSON; "" if it is not set.
std::string option_value(const RequestOption& option, const RequestOptions& options);

// The value that a text from the command line means. invalid_argument names the expected values.
Result<Value> parse_option(const RequestOption& option, std::string_view text);
// Parses and sets it.
Result<> set_option(RequestOptions& options, std::string_view name, std::string_view value);

// Options set in `over` replace those of `base`.
void overlay(RequestOptions& base, const RequestOptions& over);

// The representation of an option, or of one value of it, in a protocol: a piece of the body, with
// % for the value. The first match applies.
struct OptionEncoding {
  std::string_view option;
  std::string_view value;  // as JSON; "" for any
  std::string_view json;   // an object
};

// False if the protocol has no field for the option.
bool supports_option(std::span<const OptionEncoding> encodings, std::string_view option);

// The same by the provider's name. True for a provider without a protocol.
bool provider_accepts(std::string_view name, std::string_view option);

// All options that are set, as one object. unsupported, naming the option, if `protocol` has no
// field for one.
Result<std::string> encode_options(const RequestOptions& options, std::string_view protocol,
                                   std::span<const OptionEncoding> encodings);

// The values of ProviderOptions::auth.
std::vector<std::string_view> auth_names();
// Whether a request may have this header, and go to this path.
bool is_header_name(std::string_view text);
bool is_request_path(std::string_view text);

// The members of a valid JSON object, as views into it.
std::vector<std::pair<std::string, std::string_view>> members_of(std::string_view object);

// `base` with the members of `over`: objects are merged, everything else is replaced. Both must be
// valid JSON.
std::string merged_json(std::string_view base, std::string_view over);

}  // namespace reprise::provider
