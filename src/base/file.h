#pragma once

// The file system, checked: every write, sync, close and rename is looked at, because a write that
// was not checked did not happen. Errors carry the path and errno.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "reprise/error.h"

namespace reprise {

// Owns a file descriptor. The destructor closes and ignores the outcome; use close() for files
// that were written.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd();

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  Result<> close(const std::filesystem::path& path);

 private:
  int fd_ = -1;
};

// "cannot WHAT PATH: REASON" with the code that fits errno (not_found, io…).
Error os_error(std::string_view what, const std::filesystem::path& path, int os_errno);

// open(2) with O_CLOEXEC, retried on EINTR.
Result<Fd> open_file(const std::filesystem::path& path, int flags, unsigned mode = 0600);

// At most `bytes_max`; a larger file, a folder or a device is invalid_argument.
Result<std::string> read_file(const std::filesystem::path& path,
                              std::int64_t bytes_max = std::int64_t{1} << 30);

Result<> write_all(int fd, std::string_view bytes, const std::filesystem::path& path);
Result<> sync_file(int fd, const std::filesystem::path& path);
Result<> sync_folder(const std::filesystem::path& folder);

// What a chain of symbolic links at `path` leads to, there or not; `path` when it is no link.
Result<std::filesystem::path> follow_links(const std::filesystem::path& path);

// A file's new content, written and synced under a temporary name, so that giving it its name is
// all that is left to fail. Removed when it never gets one.
class PreparedFile {
 public:
  // Beside the file it will replace, whose mode it takes; 0600 where there is none.
  static Result<PreparedFile> write(const std::filesystem::path& target, std::string_view bytes);
  // The same for bytes that are too many to be held: `fill` writes them to the open file.
  static Result<PreparedFile> write(const std::filesystem::path& target,
                                    const std::function<Result<>(int fd)>& fill);
  PreparedFile(PreparedFile&& other) noexcept : name_(std::exchange(other.name_, {})) {}
  PreparedFile& operator=(PreparedFile&&) = delete;
  PreparedFile(const PreparedFile&) = delete;
  PreparedFile& operator=(const PreparedFile&) = delete;
  ~PreparedFile();

  const std::filesystem::path& name() const { return name_; }
  // Once, for a file on the same disk. The folder is synced.
  Result<> replace(const std::filesystem::path& target);

 private:
  explicit PreparedFile(std::filesystem::path name) : name_(std::move(name)) {}
  std::filesystem::path name_;
};

// The one way a file is replaced: a temporary file beside it, written, synced, closed, renamed,
// the folder synced. A reader sees the old or the new file, a power cut leaves one of them. New
// files are 0600, an existing file keeps its mode, a symbolic link is followed.
// `before_rename` is shown the temporary file when all of it is on disk; after its error, which is
// returned, nothing has changed.
Result<> replace_file(
    const std::filesystem::path& path, std::string_view bytes,
    const std::function<Result<>(const std::filesystem::path& temporary)>& before_rename = {});

// The same with content that `fill` writes to the open temporary file.
Result<> replace_file(
    const std::filesystem::path& path, const std::function<Result<>(int fd)>& fill,
    const std::function<Result<>(const std::filesystem::path& temporary)>& before_rename = {});

// Gives a file or folder another name on the same disk, both folders synced. conflict when `to`
// exists.
Result<> move_file(const std::filesystem::path& from, const std::filesystem::path& to);

// The folder is synced.
Result<> remove_file(const std::filesystem::path& file);

// The folder that the file is in.
std::filesystem::path folder_of(const std::filesystem::path& path);

// All missing folders, 0700, each synced into its parent.
Result<> make_private_folders(const std::filesystem::path& folder);

}  // namespace reprise
