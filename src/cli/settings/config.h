#pragma once

// Reading settings; see settings.h for what they mean.

#include <filesystem>  // IWYU pragma: export

#include "cli/program/process_environment.h"  // IWYU pragma: export
#include "cli/settings/settings.h"            // IWYU pragma: export

namespace reprise::cli {

struct ConfigSources {
  std::filesystem::path user_file;     // may be missing
  bool user_file_required = false;     // it was named by a flag or variable
  std::filesystem::path project_from;  // the search for `.reprise.toml` begins here, upwards
};

struct LoadedSettings {
  Settings settings;
  std::vector<std::string> warnings;  // unknown keys, ignored parts of a project's file
};

// Files and environment put together; flags are laid over them by the commands. invalid_argument
// with file, line and column for what is no TOML or a value of a wrong type.
Result<LoadedSettings> load_settings(const ConfigSources& sources,
                                     const ProcessEnvironment& environment);

// The nearest `.reprise.toml` at or above `folder`; empty when there is none. io when that cannot
// be told: other settings may name another store.
Result<std::filesystem::path> find_project_file(const std::filesystem::path& folder);

// Whether the folder is one of `trust`, or below one. Links are resolved on both sides, so that one
// cannot borrow another folder's trust.
bool is_trusted(const std::filesystem::path& folder, const std::vector<std::string>& trust);

// The settings as they are shown: by name, with secrets left out.

struct ShownSetting {
  std::string name;   // as `config get` takes it: "providers.work.model"
  std::string value;  // "(set)" for a secret
};

// All that are set, in the order of the table of keys.
std::vector<ShownSetting> shown_settings(const Settings& settings);

}  // namespace reprise::cli
