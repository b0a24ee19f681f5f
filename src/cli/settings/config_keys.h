#pragma once

// The table of all keys in settings files. Parsing, `reprise config`, the ranges of flags, the test
// of docs/config.md and the completions use it.

#include <vector>  // IWYU pragma: export

#include "base/text.h"                 // IWYU pragma: export
#include "choice/settings.h"           // IWYU pragma: export
#include "provider/request_options.h"  // IWYU pragma: export

namespace reprise::cli {

// Where a key is allowed: at the top of a file, in [providers.NAME], in [mode.NAME].
enum class Section : std::uint8_t { top = 1, provider = 2, mode = 4 };

// Who may set a key: any project, a trusted project, or only the user's own file.
enum class RequiredTrust : std::uint8_t { none, project, user };

// Where the value is stored.
using KeySlot = std::variant<
    std::optional<std::string> Settings::*, std::optional<bool> Settings::*,
    std::optional<std::int64_t> Settings::*, std::optional<double> Settings::*,
    std::vector<std::string> Settings::*, std::optional<std::string> ProviderSettings::*,
    std::optional<bool> ProviderSettings::*, std::optional<std::string> RequestSettings::*,
    std::map<std::string, std::string, std::less<>> RequestSettings::*, RawJson RequestSettings::*,
    const provider::RequestOption*, std::string Mode::*, std::vector<std::string> Mode::*,
    PathPolicy Mode::*>;

// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): in the order of the table's lines.
struct ConfigKey {
  std::string_view name;
  std::uint8_t sections;  // bits of Section
  RequiredTrust required_trust;
  KeySlot slot;
  std::string_view help;                        // one line, lower case, no full stop
  std::string_view expected = {};               // describes a string: "a URL"; "" for any
  bool (*accepts)(std::string_view) = nullptr;  // validates a string
  NumberRange range = {};                       // of a number
  bool is_secret = false;                       // shown as "(set)"
  std::vector<std::string_view> choices = {};   // accepted values; empty: any

  bool is_in(Section section) const { return (sections & static_cast<std::uint8_t>(section)) != 0; }
};

// In the order in which `reprise config` shows them.
std::span<const ConfigKey> config_keys();
// Null if there is none.
const ConfigKey* find_config_key(Section section, std::string_view name);
std::vector<std::string_view> config_key_names(Section section);

// A description of valid values: "a string", "a whole number of 1 or more", "true or false".
std::string expected_value(const ConfigKey& key);

// A key as the user writes it: "model", "providers.work.model", "mode.draft.system".
struct KeyPath {
  Section section = Section::top;
  std::string name = {};  // of the provider or mode; "" at the top
  const ConfigKey* key = nullptr;
};
// not_found suggests the nearest key.
Result<KeyPath> parse_key_path(std::string_view text);

// The value as TOML. invalid_argument describes valid values; unsupported for a table.
Result<std::string> toml_value(const KeyPath& path, const std::vector<std::string>& values);

}  // namespace reprise::cli
