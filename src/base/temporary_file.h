#pragma once

// Temporary files for incomplete content. A killed process leaves them behind; the next writer of
// the same file removes them. A lock, which ends with its process, marks a file in use.

#include <filesystem>
#include <functional>

#include "base/fd.h"
#include "reprise/error.h"

namespace reprise {

// Removed by its destructor, unless it was renamed.
class TemporaryFile {
 public:
  // Creates an empty file beside `path`, 0600, "PATH.reprise-<number>.tmp" with the lowest number
  // that is not in use. Open for reading and writing.
  static Result<TemporaryFile> create(const std::filesystem::path& path);

  TemporaryFile(TemporaryFile&& other) noexcept
      : name_(std::exchange(other.name_, {})), fd_(std::move(other.fd_)) {}
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();

  const std::filesystem::path& name() const { return name_; }
  int fd() const { return fd_.get(); }
  // Call after the rename: the file is no longer removed. Returns the open file.
  Fd was_renamed();

 private:
  TemporaryFile(std::filesystem::path name, Fd fd) : name_(std::move(name)), fd_(std::move(fd)) {}
  std::filesystem::path name_;
  Fd fd_;
};

// Removes what killed processes left beside `path`.
void remove_temporary_files(const std::filesystem::path& path);

// The same for all files of a folder for which `is_target` returns true, and for names of older
// versions ("NAME.<pid>.<number>.tmp"), which were not locked: the caller must hold the lock that
// excludes their writers. Lists the folder; ignores errors.
void sweep_temporary_files(const std::filesystem::path& folder,
                           const std::function<bool(std::string_view name)>& is_target);

// Whether it is the name of a temporary file of this version or an older one.
bool is_temporary_name(std::string_view name);

// The path for messages: the parts that are names of temporary files become those of the files that
// they will replace.
std::filesystem::path without_temporary_names(const std::filesystem::path& path);

}  // namespace reprise
