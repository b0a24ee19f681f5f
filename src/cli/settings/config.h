#pragma once

// Reads and writes settings files; see settings.h for the meaning of the settings.

#include <filesystem>  // IWYU pragma: export
#include <functional>  // IWYU pragma: export

#include "choice/settings.h"      // IWYU pragma: export
#include "cli/process/process.h"  // IWYU pragma: export

namespace reprise::cli {

struct KeyPath;  // config_keys.h

// The maximum size of a file of settings.
inline constexpr std::int64_t kConfigBytesMax = 1 << 20;

struct ConfigSources {
  std::filesystem::path user_file;     // may be missing
  bool user_file_required = false;     // named by a flag or variable
  std::filesystem::path project_from;  // where the upward search for `.reprise.toml` begins
};

struct LoadedSettings {
  Settings settings;
  std::vector<std::string> warnings;  // unknown keys, ignored parts of a project's file
};

// The merged settings of files and environment; commands apply flags on top. invalid_argument, with
// file, line and column, for invalid TOML or a value of the wrong type.
Result<LoadedSettings> load_settings(const ConfigSources& sources,
                                     const ProcessEnvironment& environment);

// The nearest `.reprise.toml` at or above `folder`; empty if there is none. io if that cannot be
// determined: the settings in it may name another store.
Result<std::filesystem::path> find_project_file(const std::filesystem::path& folder);

// Whether the folder is in or below one of `trust`. Resolves symbolic links on both sides, so that
// a link cannot gain another folder's trust.
bool is_trusted(const std::filesystem::path& folder, const std::vector<std::string>& trust);

// A setting for display, without secrets.
struct ShownSetting {
  std::string name;  // as for `config get`: "providers.work.model"
  std::string json;  // the value as JSON; "(set)", quoted, for a secret

  std::string text() const;  // a string without quotes
};

// All that are set, in the order of config_keys().
std::vector<ShownSetting> shown_settings(const Settings& settings);

// Changes one value in the text of a settings file and preserves comments and all other lines.
// `literal` is the value as TOML. unsupported if the file's layout, such as an inline table, cannot
// be edited.
Result<std::string> with_setting(std::string_view text, const KeyPath& path,
                                 std::string_view literal);

// Adds a folder to `trust`.
Result<std::string> with_trusted_folder(std::string_view text, std::string_view folder);

// The folders in `trust` of a user's file.
Result<std::vector<std::string>> trusted_folders(std::string_view text, std::string_view file);

// Validates a text as a user's file. invalid_argument names `file` with line and column.
Result<> check_config(std::string_view text, std::string_view file);

// The text of a settings file; "" if there is none.
Result<std::string> config_text(const std::filesystem::path& file);

// Changes the user's settings file; a lock file beside it makes processes take turns. `change`
// receives the text, "" if there is no file, and returns the new one. If it differs and is valid,
// it replaces the file; private, as it may contain secrets.
using ConfigChange = std::function<Result<std::string>(const std::string& text)>;
Result<> update_config(const std::filesystem::path& file, const ConfigChange& change);

}  // namespace reprise::cli
