#pragma once

// Every key that a file of settings may hold, once: reading and checking a file, `reprise config`,
// the flags' ranges, docs/config.md's test and the completions walk this table.

#include <vector>  // IWYU pragma: export

#include "base/number_range.h"
#include "cli/settings/settings.h"     // IWYU pragma: export
#include "provider/request_options.h"  // IWYU pragma: export

namespace reprise::cli {

// Where a key may stand: at the top of a file, in [providers.NAME], in [mode.NAME].
enum class Section : std::uint8_t { top = 1, provider = 2, mode = 4 };

// Who may set it: any project, a project that the user trusts, or the user's own file alone.
enum class Reach : std::uint8_t { anyone, trusted, user };

// Where the value goes.
using KeySlot = std::variant<
    std::optional<std::string> Settings::*, std::optional<bool> Settings::*,
    std::optional<std::int64_t> Settings::*, std::optional<double> Settings::*,
    std::vector<std::string> Settings::*, std::optional<std::string> ProviderSettings::*,
    std::optional<bool> ProviderSettings::*, std::optional<std::string> RequestSettings::*,
    std::map<std::string, std::string, std::less<>> RequestSettings::*, RawJson RequestSettings::*,
    const provider::RequestOption*, std::string Mode::*, std::vector<std::string> Mode::*,
    PathPolicy Mode::*>;

struct ConfigKey {
  std::string_view name;
  std::uint8_t sections;  // bits of Section
  Reach reach;
  KeySlot slot;
  std::string_view help;                        // one line, lower case, no full stop
  std::string_view expected = {};               // what a text must be: "a URL"; "" for any
  bool (*accepts)(std::string_view) = nullptr;  // whether a text is that
  NumberRange range = {};                       // of a number
  bool is_secret = false;                       // shown as "(set)"
  std::vector<std::string_view> choices = {};   // all that is accepted; empty: anything

  bool stands_in(Section section) const {
    return (sections & static_cast<std::uint8_t>(section)) != 0;
  }
};

// In the order in which `reprise config` shows them.
std::span<const ConfigKey> config_keys();
// Null when there is none.
const ConfigKey* find_config_key(Section section, std::string_view name);
std::vector<std::string_view> config_key_names(Section section);

// What a value must be: "a string", "a whole number of 1 or more", "true or false".
std::string expected_value(const ConfigKey& key);

// "model", "providers.work.model", "mode.draft.system": what a person calls a key.
struct KeyPath {
  Section section = Section::top;
  std::string name = {};  // of the provider or mode; "" at the top
  const ConfigKey* key = nullptr;
};
// not_found names the nearest key.
Result<KeyPath> parse_key_path(std::string_view text);

// Whether `text` is a value for it, and if so as TOML. invalid_argument says what it must be;
// unsupported for a table, which is no single value.
Result<std::string> toml_value(const KeyPath& path, const std::vector<std::string>& values);

}  // namespace reprise::cli
