#pragma once

namespace reprise::sqlite {

// The name of a VFS like SQLite's own that allocates every block of the shared memory that it maps.
// SQLite writes one byte per 4 KiB: if the file system's blocks are smaller, the others are
// allocated on first access, and on a full disk the process gets SIGBUS. With this VFS, it gets
// SQLITE_FULL. Null, for SQLite's own VFS, if it cannot be registered.
const char* shared_memory_vfs();

}  // namespace reprise::sqlite
