#pragma once

// A folder for copies of a database that are read instead of it.

#include "base/file.h"

namespace reprise::sqlite {

// In $TMPDIR or /tmp. Only its owner can look into it; it goes with all that is in it.
class PrivateFolder {
 public:
  static Result<PrivateFolder> make();
  PrivateFolder(PrivateFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  PrivateFolder& operator=(PrivateFolder&&) = delete;
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  ~PrivateFolder();
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit PrivateFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

// Copies the database, its log and its hot journal to `to`, whose folder is private. busy when it
// was written to during every try.
//
// With a log: pages that a checkpoint moves while the database is copied are in the log, too, which
// is copied after it, unless the log was begun anew meanwhile; its header tells. Without one,
// nothing may have changed at all.
Result<> copy_foreign_files(const std::filesystem::path& file, const std::filesystem::path& to);

// What is left to be read of an open file.
Result<> copy_by_pieces(int from, int to, const std::filesystem::path& source,
                        const std::filesystem::path& target);

}  // namespace reprise::sqlite
