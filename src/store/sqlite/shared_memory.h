#pragma once

namespace reprise::sqlite {

// The name of a VFS like SQLite's own, that allocates every block of the shared memory it maps.
// SQLite writes one byte to each 4 KiB: where the file system's blocks are smaller, the others are
// allocated when they are touched, and a full disk ends the process with SIGBUS. Here it is
// SQLITE_FULL. Null, which is SQLite's own VFS, where that cannot be registered.
const char* shared_memory_vfs();

}  // namespace reprise::sqlite
