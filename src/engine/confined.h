#pragma once

// Files inside one folder. What a name leads to is decided by the kernel (openat2,
// RESOLVE_BENEATH): no "..", absolute name or link gets out, also when it changes meanwhile.

#include "base/file.h"

namespace reprise {

enum class EntryKind : std::uint8_t { file, folder };

// A regular file or a folder inside `root`, opened for reading. `name` is relative to it, or an
// absolute name inside it. invalid_argument for what lies outside and for devices, pipes and
// sockets, which are not opened.
Result<Fd> open_inside(const std::filesystem::path& root, const std::string& name, EntryKind kind);

}  // namespace reprise
