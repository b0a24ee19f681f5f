#pragma once

// What files are called until they are whole. A process that dies leaves them behind under a name
// that no other process takes.

#include <filesystem>
#include <string_view>

namespace reprise {

// "PATH.<pid>.<number>.tmp", new each time. Thread-safe.
std::filesystem::path temporary_beside(const std::filesystem::path& path);

// Whether a file's name is one of those.
bool is_temporary_name(std::string_view name);

}  // namespace reprise
