#pragma once

// Changes one value in the text of a file of settings; comments and all other lines stay.

#include "cli/settings/config_keys.h"  // IWYU pragma: export

namespace reprise::cli {

// `literal` is the value as TOML. unsupported where the file is laid out in a way that this cannot
// change, such as an inline table.
Result<std::string> with_setting(std::string_view text, const KeyPath& path,
                                 std::string_view literal);

// With one more folder under `trust`.
Result<std::string> with_trusted_folder(std::string_view text, std::string_view folder);

// Those that a text of the user's file lists.
Result<std::vector<std::string>> trusted_folders(std::string_view text, std::string_view file);

// Checks a text as the user's file. invalid_argument names `file` with line and column.
Result<> check_config(std::string_view text, std::string_view file);

}  // namespace reprise::cli
