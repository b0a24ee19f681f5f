#pragma once

// The file system with error checks: every write, sync, close and rename is checked, because an
// unchecked write may not have happened. Errors carry the path and errno.
//
// No function here follows symbolic links in any component of a path, except for the two that are
// documented to: the contents of a folder must not decide which file is read or written. Paths
// given by the user are resolved once on input (resolve_path); everything below them is opened
// without following links.
//
// Incomplete content is written to temporary files. A killed process leaves them behind; the next
// writer of the same file removes them. A lock, which ends with its process, marks a file in use.

#include <sys/stat.h>  // IWYU pragma: export

#include <cstddef>     // IWYU pragma: export
#include <cstdint>     // IWYU pragma: export
#include <expected>    // IWYU pragma: export
#include <filesystem>  // IWYU pragma: export
#include <functional>
#include <optional>
#include <span>     // IWYU pragma: export
#include <utility>  // IWYU pragma: export

#include "reprise/error.h"  // IWYU pragma: export

namespace reprise {

// Owns a file descriptor. The destructor closes it and ignores errors; use close() for written
// files.
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

// The system drops all POSIX locks of a process on a file, such as SQLite's, when the process
// closes any descriptor of that file. While this object exists, Fd leaves those of the file open;
// they are closed with the last object for it. Any thread may create and destroy objects.
class LockedFile {
 public:
  // not_found if there is no such file. Does not follow links.
  static Result<LockedFile> protect(const std::filesystem::path& file);
  LockedFile(LockedFile&& other) noexcept : file_(std::exchange(other.file_, {})) {}
  LockedFile& operator=(LockedFile&&) = delete;
  LockedFile(const LockedFile&) = delete;
  LockedFile& operator=(const LockedFile&) = delete;
  ~LockedFile();

 private:
  using File = std::pair<dev_t, ino_t>;
  explicit LockedFile(File file) : file_(file) {}
  std::optional<File> file_;
};

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
  Fd release();

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

// "cannot ACTION PATH: REASON" with the code for errno (not_found, io…).
Error os_error(std::string_view action, const std::filesystem::path& path, int os_errno);

// The kind of a file. Errors are returned as such: only "no such file" from the system is
// FileKind::none, since treating other errors as absence could lose data.
enum class FileKind : std::uint8_t { none, file, folder, link, other };
// Links are not followed.
Result<FileKind> kind_of(const std::filesystem::path& path);
// The kind of a link's target; none for a dangling link.
Result<FileKind> kind_of_target(const std::filesystem::path& path);
// A link exists, whatever its target.
Result<bool> file_exists(const std::filesystem::path& path);
// Follows links.
Result<bool> is_folder(const std::filesystem::path& path);

// Of an open file; `path` is used in errors.
Result<struct stat> status_of(int fd, const std::filesystem::path& path);
// Does not follow links; nullopt if there is no such file.
Result<std::optional<struct stat>> find_status(const std::filesystem::path& path);

// not_found if there is no such file.
Result<struct stat> get_status(const std::filesystem::path& path);

// Distinguishes a file from the one that replaced it.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  off_t size = 0;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};
// not_found if the file does not exist.
Result<FileIdentity> identify(const std::filesystem::path& file);

// Converts not_found to nullopt.
template <class Value>
Result<std::optional<Value>> if_exists(Result<Value> found) {
  if (found) {
    return std::optional<Value>(*std::move(found));
  }
  return found.error().code == Code::not_found ? Result<std::optional<Value>>(std::nullopt)
                                               : std::unexpected(std::move(found).error());
}

// Opens another program's file for reading, without changing its access time if that is permitted.
Result<Fd> open_foreign(const std::filesystem::path& file);

// open(2) with O_CLOEXEC, retried on EINTR. invalid_argument (ELOOP) for a path with a link in it
// and, without O_DIRECTORY and O_PATH, for anything but a regular file, on which it does not block
// either; io (EACCES) for a file of another user, unless the folder is owned by that user, too.
// Root's files may be read, and root may read all files.
Result<Fd> open_file(const std::filesystem::path& path, int flags, unsigned mode = 0600);
// The same for reading, whoever owns the file.
Result<Fd> open_named_file(const std::filesystem::path& path);

// At most `bytes_max`; a larger file, a folder or a device is invalid_argument.
Result<std::string> read_file(const std::filesystem::path& path,
                              std::int64_t bytes_max = std::int64_t{1} << 30);
// The same, whoever owns the file: for files named by the user.
Result<std::string> read_named_file(const std::filesystem::path& path, std::int64_t bytes_max);

// Fills `into` from `offset` on, up to the end of the file. Returns the number of bytes.
Result<std::size_t> read_at(int fd, std::span<char> into, std::int64_t offset,
                            const std::filesystem::path& path);

Result<> write_all(int fd, std::string_view bytes, const std::filesystem::path& path);
Result<> sync_file(int fd, const std::filesystem::path& path);
// Asks the kernel to begin writing, so that a later sync waits for less. Guarantees nothing.
void begin_sync(int fd);
Result<> sync_folder(const std::filesystem::path& folder);

// Resolves the links in a path given by the user, which may not exist. A path without links is
// returned unchanged, else the result is absolute.
Result<std::filesystem::path> resolve_path(const std::filesystem::path& named);
// The same for a new file: only its folder is resolved.
Result<std::filesystem::path> resolve_folder_of(const std::filesystem::path& named);
// invalid_argument, naming the link, for a path with a link in it. Missing components are allowed.
Result<> refuse_links(const std::filesystem::path& path);

// The new content of a file, written and synced under a temporary name, so that only the rename can
// still fail. The temporary file is removed unless it is renamed.
class PreparedFile {
 public:
  // Created beside the target, with the target's mode, or 0600 if there is none.
  static Result<PreparedFile> write(const std::filesystem::path& target, std::string_view bytes);
  // The same with content that `fill` writes to the open file.
  static Result<PreparedFile> write(const std::filesystem::path& target,
                                    const std::function<Result<>(int fd)>& fill);

  const std::filesystem::path& name() const { return file_.name(); }
  // Call once, with a target on the same file system. The folder is synced. invalid_argument when
  // the target is a link.
  Result<> replace(const std::filesystem::path& target);

 private:
  explicit PreparedFile(TemporaryFile file) : file_(std::move(file)) {}
  TemporaryFile file_;
};

// Whether the file, if it exists, may be written or replaced: invalid_argument for a link, io
// (EACCES) for another user's.
Result<> check_target(const std::filesystem::path& path);
// The same for reading.
Result<> check_source(const std::filesystem::path& path);

// Replaces a file atomically: writes, syncs and closes a temporary file beside it, renames it and
// syncs the folder. Readers see the old or the new file; a power cut leaves one of them. New files
// are 0600, existing files keep their mode, symbolic links are refused. `before_rename` is called
// with the synced temporary file; its error is returned, and the target has not changed then.
Result<> replace_file(
    const std::filesystem::path& path, std::string_view bytes,
    const std::function<Result<>(const std::filesystem::path& temporary)>& before_rename = {});

// The same with content that `fill` writes to the open temporary file.
Result<> replace_file(
    const std::filesystem::path& path, const std::function<Result<>(int fd)>& fill,
    const std::function<Result<>(const std::filesystem::path& temporary)>& before_rename = {});

// Renames a file or folder within a file system, and syncs both folders. conflict when `to` exists.
Result<> move_file(const std::filesystem::path& from, const std::filesystem::path& to);

// Creates a hard link, and syncs the folder. conflict when `to` exists, unless it is the same file.
Result<> link_file(const std::filesystem::path& from, const std::filesystem::path& to);

// Removes a file, and temporary files of it that killed processes left behind. The folder is
// synced.
Result<> remove_file(const std::filesystem::path& file);
// Not synced; a missing file is not an error.
Result<> remove_if_exists(const std::filesystem::path& file);
// Removes a folder recursively; links in it are removed, not their targets. Not synced; a missing
// folder is not an error.
Result<> remove_tree(const std::filesystem::path& folder);

// The parent folder.
std::filesystem::path folder_of(const std::filesystem::path& path);

// Creates all missing folders with mode 0700, syncing each parent.
Result<> make_private_folders(const std::filesystem::path& folder);

}  // namespace reprise
