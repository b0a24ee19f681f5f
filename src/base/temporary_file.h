#pragma once

// Files until they are whole. A process that is killed leaves them behind; who writes the same file
// next takes them away, and knows by a lock, which ends with its process, that nobody is at it.

#include <filesystem>
#include <functional>

#include "base/fd.h"
#include "reprise/error.h"

namespace reprise {

// Removed by its destructor, unless it was renamed.
class TemporaryFile {
 public:
  // An empty file beside `path`, 0600, "PATH.reprise-<number>.tmp" with the lowest number that no
  // living process has. Open for reading and writing.
  static Result<TemporaryFile> create(const std::filesystem::path& path);

  TemporaryFile(TemporaryFile&& other) noexcept
      : name_(std::exchange(other.name_, {})), fd_(std::move(other.fd_)) {}
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();

  const std::filesystem::path& name() const { return name_; }
  int fd() const { return fd_.get(); }
  // It has its own name now, and is no temporary file any more. Returns the open file.
  Fd was_renamed();

 private:
  TemporaryFile(std::filesystem::path name, Fd fd) : name_(std::move(name)), fd_(std::move(fd)) {}
  std::filesystem::path name_;
  Fd fd_;
};

// Takes away what killed processes have left beside `path`, where nobody is going to write it.
void remove_temporary_files(const std::filesystem::path& path);

// The same for all files of a folder that `is_target` knows by name, and for the names that older
// versions gave ("NAME.<pid>.<number>.tmp"), which were not locked: nobody may be writing these
// files now, so the caller holds the lock that their writers take. Lists the folder; what cannot be
// removed stays.
void sweep_temporary_files(const std::filesystem::path& folder,
                           const std::function<bool(std::string_view name)>& is_target);

// Whether a file's name is one of those, or one of those that older versions used.
bool is_temporary_name(std::string_view name);

}  // namespace reprise
