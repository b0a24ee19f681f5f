#pragma once

// Bytes that cannot be understood are kept beside the place where they stood, under a name that
// says so; no name is ever used twice.

#include <filesystem>

#include "reprise/error.h"

namespace reprise::store {

// A copy of the bytes as FILE.SUFFIX, or FILE.SUFFIX.1, .2…, whichever is free; durable on disk.
// Returns the name. When the newest one holds these very bytes, it is that one.
Result<std::filesystem::path> quarantine(const std::filesystem::path& file, std::string_view bytes,
                                         std::string_view suffix = "bak");

}  // namespace reprise::store
