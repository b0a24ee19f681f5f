#pragma once

// The SQLite library: its version, and what connections add to it.

#include <cstdint>
#include <filesystem>
#include <string_view>

struct sqlite3;

namespace reprise::sqlite {

std::string_view version();  // "3.40.1"

// Whether this version can damage a database in WAL mode if one process checkpoints while another
// one restarts the log (before 3.51.3, 3.50.7 and 3.44.6). Processes of this store are protected by
// its own lock; and from checkpoints of other programs, because with this fault a connection of
// ours holds SQLite's checkpoint lock while it writes.
bool has_wal_reset_fault();

// Whether the file system lets programs share memory through this file, as a log requires. True if
// that cannot be determined. For a lock file, not for a database: closing that would release the
// locks that SQLite holds on it in this process (POSIX locks).
bool can_map(const std::filesystem::path& lock_file);

// The name of a VFS like SQLite's own that allocates every block of the shared memory that it maps.
// SQLite writes one byte per 4 KiB: if the file system's blocks are smaller, the others are
// allocated on first access, and on a full disk the process gets SIGBUS. With this VFS, it gets
// SQLITE_FULL. Null, for SQLite's own VFS, if it cannot be registered.
const char* shared_memory_vfs();

// The name of the same VFS with a checksum in the last bytes of each page of a database, so that
// reading a page that anything but this VFS has changed is SQLITE_CORRUPT. For a database that was
// created with it, pages of kCheckedPageBytes and kChecksumBytes reserved in each. The log has
// SQLite's own checksums. Call shared_memory_vfs() first.
inline constexpr const char* kCheckedVfs = "reprise-checked";
inline constexpr int kCheckedPageBytes = 4096;
inline constexpr int kChecksumBytes = 8;

// Registers reprise_contains(text, part): store::contains_folded(). Each call decrements `left`,
// which must outlive the handle; when it is used up, the statement fails. The schema must not use
// it, because other programs lack it.
void add_functions(sqlite3* handle, std::int64_t& left);

}  // namespace reprise::sqlite
