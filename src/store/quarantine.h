#pragma once

// Preserves bytes that cannot be read in files beside their original one; names are never reused.

#include <filesystem>
#include <string_view>

#include "reprise/error.h"

namespace reprise::store {

// Copies the bytes to the first unused name among FILE.SUFFIX, FILE.SUFFIX.1, .2…; durable on disk.
// Returns the name. If the newest copy has the same bytes, returns that one.
Result<std::filesystem::path> quarantine(const std::filesystem::path& file, std::string_view bytes,
                                         std::string_view suffix = "bak");

}  // namespace reprise::store
