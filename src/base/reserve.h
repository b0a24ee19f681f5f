#pragma once

// Reserved disk space for deletions on a full disk: deleting writes before it frees anything. The
// blocks are allocated beyond the end of an existing file (a lock file), whose size and content do
// not change.

#include <filesystem>
#include <functional>

#include "reprise/error.h"

namespace reprise {

inline constexpr std::int64_t kReserveBytes = std::int64_t{256} << 10;

// ENOSPC or EDQUOT.
bool is_disk_full(const Error& error);

// Allocates the space unless it is allocated already. Without free space, or on a file system
// without fallocate(2), there is no reserve; this is not an error.
void allocate_reserve(const std::filesystem::path& file, std::int64_t bytes = kReserveBytes);

// Runs work that frees space; if it fails because the disk is full, releases the reserve (of any
// size) and runs it again. allocate_reserve() allocates it again later. If the space is still not
// enough, runs `in_steps` instead, which does the same with less space at a time.
Result<> with_reserve(const std::filesystem::path& file, const std::function<Result<>()>& work,
                      const std::function<Result<>()>& in_steps = {});

}  // namespace reprise
