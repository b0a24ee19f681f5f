#pragma once

// Consistent copies of a database's files, without SQLite and without locks, and the private
// folders for them.

#include "base/file.h"

namespace reprise::sqlite {

// A folder in $TMPDIR or /tmp, accessible only to its owner; removed with its contents by the
// destructor. A lock on a file in it, which ends with its process, marks it in use: make() removes
// those of killed processes.
class PrivateFolder {
 public:
  static Result<PrivateFolder> make();
  PrivateFolder(PrivateFolder&& other) noexcept
      : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}
  PrivateFolder& operator=(PrivateFolder&&) = delete;
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  ~PrivateFolder();
  const std::filesystem::path& path() const { return path_; }

 private:
  PrivateFolder(std::filesystem::path path, Fd lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}
  std::filesystem::path path_;
  Fd lock_;
};

// Copies the database, its log and its hot journal to `to`, whose folder is private. busy if the
// database was written to during every attempt.
//
// With a log: pages that a checkpoint moves during the copy are also in the log, which is copied
// afterwards, unless the log was restarted meanwhile, which its header shows. Without a log,
// nothing may have changed.
Result<> copy_foreign_files(const std::filesystem::path& file, const std::filesystem::path& to);

// Copies the remainder of an open file.
Result<> copy_by_pieces(int from, int to, const std::filesystem::path& source,
                        const std::filesystem::path& target);

}  // namespace reprise::sqlite
