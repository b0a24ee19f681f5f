#pragma once

// Names of files beside others.

#include <filesystem>
#include <string_view>

namespace reprise::store {

// `file` with `suffix` at its end.
std::filesystem::path beside(const std::filesystem::path& file, std::string_view suffix);

// False as well for what cannot be looked at.
bool is_there(const std::filesystem::path& path);

}  // namespace reprise::store
