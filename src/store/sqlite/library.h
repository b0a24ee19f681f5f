#pragma once

// The SQLite library: its version, and what connections add to it.

#include <cstdint>
#include <string_view>

struct sqlite3;

namespace reprise::sqlite {

std::string_view version();  // "3.40.1"

// Whether this version can damage a database in WAL mode if one process checkpoints while another
// one restarts the log (before 3.51.3, 3.50.7 and 3.44.6). Processes of this store are protected by
// its own lock, which other programs ignore.
bool has_wal_reset_fault();

// The name of a VFS like SQLite's own that allocates every block of the shared memory that it maps.
// SQLite writes one byte per 4 KiB: if the file system's blocks are smaller, the others are
// allocated on first access, and on a full disk the process gets SIGBUS. With this VFS, it gets
// SQLITE_FULL. Null, for SQLite's own VFS, if it cannot be registered.
const char* shared_memory_vfs();

// Registers reprise_contains(text, word): whether the text contains the lower-case word, ignoring
// the case of ASCII letters. Each call decrements `left`, which must outlive the handle; when it is
// used up, the statement fails. The schema must not use it, because other programs lack it.
void add_functions(sqlite3* handle, std::int64_t& left);

}  // namespace reprise::sqlite
