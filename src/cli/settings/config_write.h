#pragma once

// Changes one value in the text of a settings file and preserves comments and all other lines.

#include "cli/settings/config_keys.h"  // IWYU pragma: export

namespace reprise::cli {

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

}  // namespace reprise::cli
