#pragma once

// Names of files beside others, and in folders.

#include <vector>

#include "base/file.h"

namespace reprise::store {

// The absolute path without links to a store that a person names, and without a slash at its end.
Result<std::filesystem::path> whole_path(const std::filesystem::path& named);

// `file` with `suffix` at its end.
std::filesystem::path beside(const std::filesystem::path& file, std::string_view suffix);

// conflict when something is there.
Result<> check_new(const std::filesystem::path& path);

// The kind of an entry of a listed folder; a link is one. Where the folder has said so already, the
// disk is not asked again.
Result<FileKind> kind_of_entry(const std::filesystem::directory_entry& entry);

// What is in the folder, in no order; not_found when there is none, invalid_argument for a link.
Result<std::vector<std::filesystem::directory_entry>> list_folder(
    const std::filesystem::path& folder);
// The same; nothing when there is none.
Result<std::vector<std::filesystem::directory_entry>> list_if_there(
    const std::filesystem::path& folder);

}  // namespace reprise::store
