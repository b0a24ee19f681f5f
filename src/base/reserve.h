#pragma once

// A little room on the disk, for deleting when it is full: deleting writes, too, before it frees
// anything. It lies beyond the end of a file that is there anyway (a lock file), whose size and
// bytes it does not change.

#include <filesystem>
#include <functional>

#include "reprise/error.h"

namespace reprise {

// Takes the room (256 KiB) where it is not taken yet. Without room, or on a file system that cannot
// set room aside (it must know fallocate(2)), there is none; that is no error.
void keep_reserve(const std::filesystem::path& file);

// Runs work that frees room; when it fails for the disk is full, once more after the reserve was
// given up. Then there is none until keep_reserve() finds room again.
Result<> with_reserve(const std::filesystem::path& file, const std::function<Result<>()>& work);

}  // namespace reprise
