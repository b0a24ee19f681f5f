#pragma once

// The table of all keys in settings files. Parsing, `reprise config`, the ranges of flags, the test
// of docs/config.md and the completions use it.

#include <tuple>   // IWYU pragma: export
#include <vector>  // IWYU pragma: export

#include "base/text.h"                 // IWYU pragma: export
#include "choice/settings.h"           // IWYU pragma: export
#include "provider/request_options.h"  // IWYU pragma: export

namespace reprise::cli {

using provider::Value;
using provider::ValueKind;

// Where a key is allowed: at the top of a file, in [providers.NAME], in [mode.NAME].
enum class Section : std::uint8_t { top = 1, provider = 2, mode = 4 };

// Who may set a key: any project, a trusted project, or only the user's own file.
enum class RequiredTrust : std::uint8_t { none, project, user };

// The structs with the values of one section; null for those that it does not have.
using SettingTarget = std::tuple<Settings*, ProviderSettings*, RequestSettings*, Mode*>;
using SettingSource =
    std::tuple<const Settings*, const ProviderSettings*, const RequestSettings*, const Mode*>;

// Which values of its kind a key accepts.
struct Check {
  std::string_view expected = {};               // describes a string: "a URL"; "" for any
  bool (*accepts)(std::string_view) = nullptr;  // validates a string
  NumberRange range = {};                       // of a number
  std::vector<std::string_view> choices = {};   // accepted strings; empty: any
  bool tells_choices = false;                   // also to those who give no string

  bool holds(std::string_view text) const;
};

struct Setting {
  std::string_view name;
  std::uint8_t sections;  // bits of Section
  RequiredTrust required_trust;
  std::string_view help;  // one line, lower case, no full stop
  Check check = {};
  bool is_secret = false;                           // shown as "(set)"
  const provider::RequestOption* option = nullptr;  // which it is, if it is one
  ValueKind kind = {};
  // nullopt if it is not set, or if the target has no such values.
  std::optional<Value> (*get)(const Setting& setting, const SettingSource& from) = nullptr;
  void (*set)(const Setting& setting, const SettingTarget& to, Value value) = nullptr;

  bool is_in(Section section) const { return (sections & static_cast<std::uint8_t>(section)) != 0; }
};

// In the order in which `reprise config` shows them.
std::span<const Setting> config_keys();
// Null if there is none.
const Setting* find_config_key(Section section, std::string_view name);
std::vector<std::string_view> config_key_names(Section section);

// Copies the provider's values that are set.
void overlay(ProviderSettings& base, const ProviderSettings& over);

// A description of valid values: "a string", "a whole number of 1 or more", "true or false".
std::string expected_value(const Setting& setting);

// A key as the user writes it: "model", "providers.work.model", "mode.draft.system".
struct KeyPath {
  Section section = Section::top;
  std::string name = {};  // of the provider or mode; "" at the top
  const Setting* key = nullptr;
};
// not_found suggests the nearest key.
Result<KeyPath> parse_key_path(std::string_view text);

// The value as TOML. invalid_argument describes valid values; unsupported for a table.
Result<std::string> toml_value(const KeyPath& path, const std::vector<std::string>& values);

}  // namespace reprise::cli
