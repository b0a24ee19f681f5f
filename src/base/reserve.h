#pragma once

// A little room on the disk, for deleting when it is full: deleting writes, too, before it frees
// anything. It lies beyond the end of a file that is there anyway (a lock file), whose size and
// bytes it does not change.

#include <filesystem>
#include <functional>

#include "reprise/error.h"

namespace reprise {

inline constexpr std::int64_t kReserveBytes = std::int64_t{256} << 10;

// ENOSPC or EDQUOT.
bool is_disk_full(const Error& error);

// Takes the room where it is not taken yet. Without room, or on a file system that cannot set room
// aside (it must know fallocate(2)), there is none; that is no error.
void keep_reserve(const std::filesystem::path& file, std::int64_t bytes = kReserveBytes);

// Runs work that frees room; when it fails for the disk is full, once more after the reserve (of
// any size) was given up. Then there is none until keep_reserve() finds room again. Where that room
// is still not enough `in_steps` is tried instead, which does the same and needs little at a time.
Result<> with_reserve(const std::filesystem::path& file, const std::function<Result<>()>& work,
                      const std::function<Result<>()>& in_steps = {});

}  // namespace reprise
