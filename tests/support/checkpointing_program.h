#pragma once

// Another program that checkpoints the log of a database, and pauses where SQLite before 3.51.3 has
// a fault: it has read the length of the log, and not looked yet what of it was checkpointed. If
// the log is restarted meanwhile, it counts what is written then as checkpointed, too.

#include <sqlite3.h>

#include <filesystem>
#include <functional>
#include <utility>

namespace reprise::test {

// One in a process.
class CheckpointingProgram {
 public:
  CheckpointingProgram(const std::filesystem::path& file, std::function<void()> pause) {
    pause_ = std::move(pause);
    static sqlite3_vfs vfs = pausing_vfs();
    sqlite3_vfs_register(&vfs, 0);
    sqlite3_open_v2(file.c_str(), &handle_, SQLITE_OPEN_READWRITE, vfs.zName);
    sqlite3_exec(handle_, "PRAGMA wal_autocheckpoint=0; SELECT count(*) FROM sqlite_schema",
                 nullptr, nullptr, nullptr);
  }
  ~CheckpointingProgram() { sqlite3_close(handle_); }
  CheckpointingProgram(const CheckpointingProgram&) = delete;
  CheckpointingProgram& operator=(const CheckpointingProgram&) = delete;

  // SQLite's code.
  int checkpoint() {
    return sqlite3_wal_checkpoint_v2(handle_, nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  }

 private:
  // SQLite gives up its pages in memory when it has read that the log has changed.
  static int give_up_page(sqlite3_file* file, sqlite3_int64 at, void* page) {
    if (page == nullptr && pause_) {
      pause_();
    }
    return methods_->xUnfetch(file, at, page);
  }

  static int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out) {
    const int code = sqlite3_vfs_find(nullptr)->xOpen(vfs, name, file, flags, out);
    if (code == SQLITE_OK && file->pMethods != nullptr && (flags & SQLITE_OPEN_MAIN_DB) != 0) {
      methods_ = file->pMethods;
      static sqlite3_io_methods pausing;
      pausing = *methods_;
      pausing.xUnfetch = give_up_page;
      file->pMethods = &pausing;
    }
    return code;
  }

  static sqlite3_vfs pausing_vfs() {
    sqlite3_vfs vfs = *sqlite3_vfs_find(nullptr);
    vfs.zName = "pausing";
    vfs.pNext = nullptr;
    vfs.xOpen = open;
    return vfs;
  }

  inline static std::function<void()> pause_;
  inline static const sqlite3_io_methods* methods_ = nullptr;
  sqlite3* handle_ = nullptr;
};

}  // namespace reprise::test
