#pragma once

// Names of sidecar files, of quarantined files and of the entries of folders.

#include <filesystem>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "reprise/error.h"

namespace reprise::store {

// The absolute path, with links resolved and without a trailing slash, of a store named by the
// user.
Result<std::filesystem::path> resolved_path(const std::filesystem::path& path);

// `file` with `suffix` appended to its name.
std::filesystem::path beside(const std::filesystem::path& file, std::string_view suffix);

// conflict if the path exists.
Result<> check_new(const std::filesystem::path& path);

// The kind of an entry of a listed folder; links are not followed. Uses the type from the listing
// if the file system provides it.
Result<FileKind> kind_of_entry(const std::filesystem::directory_entry& entry);

// The folder's entries, in no particular order; not_found if it does not exist, invalid_argument
// for a link.
Result<std::vector<std::filesystem::directory_entry>> list_folder(
    const std::filesystem::path& folder);
// The same, but empty if the folder does not exist.
Result<std::vector<std::filesystem::directory_entry>> list_if_exists(
    const std::filesystem::path& folder);

// Preserves bytes that cannot be read: copies them to the first unused name among FILE.SUFFIX,
// FILE.SUFFIX.1, .2…; durable on disk. Returns the name. If a copy has the same bytes, returns that
// one. Names are never reused.
Result<std::filesystem::path> quarantine(const std::filesystem::path& file, std::string_view bytes,
                                         std::string_view suffix = "bak");

}  // namespace reprise::store
