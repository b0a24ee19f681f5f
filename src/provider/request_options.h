#pragma once

// The options of a request as one table, which settings, flags and protocols walk, and how a
// protocol puts them into a body.

#include "base/number_range.h"
#include "reprise/provider.h"

namespace reprise::provider {

using OptionSlot =
    std::variant<std::string RequestOptions::*, std::optional<std::int64_t> RequestOptions::*,
                 std::optional<double> RequestOptions::*, std::optional<bool> RequestOptions::*,
                 std::vector<std::string> RequestOptions::*, RawJson RequestOptions::*>;

struct RequestOption {
  std::string_view name;  // of the setting, and of --set
  OptionSlot slot;
  std::string_view help;                       // one line, lower case, no full stop
  std::vector<std::string_view> choices = {};  // all that is accepted; empty: anything
  NumberRange range = {};                      // of a number
};

// In the order in which they go into a body: what a later one says of the same field holds.
std::span<const RequestOption> request_options();
const RequestOption* find_request_option(std::string_view name);

// The value as JSON; "" when it is not set.
std::string option_value(const RequestOption& option, const RequestOptions& options);

// Takes a value as a person writes it on a command line. invalid_argument says what it must be.
Result<> set_option(RequestOptions& options, std::string_view name, std::string_view value);

// What is set in `over` replaces what stands in `base`.
void lay_over(RequestOptions& base, const RequestOptions& over);

// How a protocol says an option, or one value of it: a piece of the body, with % for the value. The
// first that fits holds.
struct Spelling {
  std::string_view option;
  std::string_view value;  // as JSON; "" for any
  std::string_view json;   // an object
};

// False for an option that the protocol has no field for.
bool can_spell(std::span<const Spelling> spellings, std::string_view option);

// The same for a provider by its name. True for one that has no protocol.
bool provider_can_say(std::string_view name, std::string_view option);

// All that is set, as one object. unsupported names the option that `protocol` has no field for.
Result<std::string> spell_options(const RequestOptions& options, std::string_view protocol,
                                  std::span<const Spelling> spellings);

// The members of a JSON object, which is valid; views into it.
std::vector<std::pair<std::string, std::string_view>> members_of(std::string_view object);

// `base` with the members of `over`: objects are merged, everything else is replaced. Both are
// valid JSON.
std::string merged_json(std::string_view base, std::string_view over);

}  // namespace reprise::provider
