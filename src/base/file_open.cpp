// Opens files without following links. The kernel ensures this (openat2, RESOLVE_NO_SYMLINKS), so
// that no link can appear between a check and the open; on kernels without it, one folder is opened
// after another.

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <system_error>
#include <vector>

#include "base/file.h"
#include "base/text.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

constexpr int kLinksMax = 40;  // the kernel's limit

// No file can have a name that is too long.
bool is_missing(int os_errno) {
  return os_errno == ENOENT || os_errno == ENOTDIR || os_errno == ENAMETOOLONG;
}

FileKind kind_in(const struct stat& status) {
  return S_ISREG(status.st_mode)   ? FileKind::file
         : S_ISDIR(status.st_mode) ? FileKind::folder
         : S_ISLNK(status.st_mode) ? FileKind::link
                                   : FileKind::other;
}

// The first link in the path; "" if there is none, or if it has disappeared.
Result<fs::path> link_in(const fs::path& path) {
  fs::path at;
  for (const fs::path& part : path) {
    at /= part;
    REPRISE_ASSIGN(const FileKind kind, kind_of(at));
    if (kind == FileKind::link) {
      return at;
    }
    if (kind == FileKind::none) {
      break;
    }
  }
  return fs::path();
}

Error open_error(const fs::path& path, int os_errno) {
  if (os_errno == ELOOP) {
    if (const auto link = link_in(path); link && !link->empty()) {
      const std::string which = *link == path ? "it" : link->string();
      return {Code::invalid_argument,
              cat("cannot open ", path.string(), ": ", which,
                  " is a symbolic link, which is not followed here; use the real file instead"),
              os_errno};
    }
  }
  struct stat status{};
  if (os_errno == ENXIO && ::lstat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode)) {
    return {Code::invalid_argument, cat("cannot open ", path.string(), ": not a file"), os_errno};
  }
  return os_error("open", path, os_errno);
}

int open_at(int folder, const char* name, int flags, mode_t mode) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): that is how it is declared.
  return ::openat(folder, name, flags, mode);
}

// Emulates openat2. Sets errno.
Fd open_in_steps(const fs::path& path, int flags, mode_t mode) {
  std::vector<std::string> parts;
  for (const fs::path& part : path.relative_path()) {
    if (!part.empty() && part != ".") {
      parts.push_back(part.string());
    }
  }
  const int begin_flags = parts.empty() ? flags : O_PATH | O_DIRECTORY | O_CLOEXEC;
  Fd at(open_at(AT_FDCWD, path.is_absolute() ? "/" : ".", begin_flags, mode));
  for (std::size_t i = 0; i < parts.size() && at.is_open(); ++i) {
    const bool is_last = i + 1 == parts.size();
    const int step = is_last ? flags : O_PATH | O_DIRECTORY | O_CLOEXEC;
    Fd next(open_at(at.get(), parts[i].c_str(), step | O_NOFOLLOW, mode));
    struct stat status{};
    if (!next.is_open() && errno == ENOTDIR &&
        ::fstatat(at.get(), parts[i].c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
      errno = S_ISLNK(status.st_mode) ? ELOOP : ENOTDIR;
    }
    const int os_errno = errno;
    at = std::move(next);
    errno = os_errno;
  }
  return at;
}

Fd open_without_links(const fs::path& path, int flags, mode_t mode) {
  open_how how{};
  how.flags = static_cast<unsigned>(flags);
  how.mode = (flags & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))) != 0 ? mode : 0U;
  how.resolve = RESOLVE_NO_SYMLINKS;
  while (true) {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): there is no function for this call yet.
    const long fd = ::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how);
    if (fd >= 0) {
      return Fd(static_cast<int>(fd));
    }
    // Kernels before 5.6 lack the call; sandboxes that do not know it return EPERM.
    if (errno == ENOSYS || errno == EPERM) {
      return open_in_steps(path, flags, mode);
    }
    if (errno != EINTR && errno != EAGAIN) {
      return {};
    }
  }
}

// True for files of other users. A file that belongs to the folder's owner is not one: network file
// systems may show one's own files under another user.
bool is_foreign(const struct stat& file, const fs::path& path) {
  struct stat folder{};
  return file.st_uid != ::geteuid() &&
         (::stat(folder_of(path).c_str(), &folder) != 0 || folder.st_uid != file.st_uid);
}

enum class Use : std::uint8_t { read, read_named, write };

bool is_allowed(Use use, const struct stat& file, const fs::path& path) {
  constexpr uid_t kSystem = 0;
  const bool is_system_file = file.st_uid == kSystem || ::geteuid() == kSystem;
  return use == Use::read_named || (use == Use::read && is_system_file) || !is_foreign(file, path);
}

Error foreign_file(Use use, const fs::path& path) {
  return {Code::io,
          cat("cannot ", use == Use::write ? "write " : "read ", path.string(),
              ": it belongs to another user"),
          EACCES};
}

Result<> check_opened(int fd, const fs::path& path, Use use) {
  struct stat status{};
  if (::fstat(fd, &status) != 0) {
    return std::unexpected(os_error("open", path, errno));
  }
  if (!S_ISREG(status.st_mode)) {
    return fail(Code::invalid_argument, cat("cannot open ", path.string(), ": not a file"));
  }
  return is_allowed(use, status, path) ? Result<>() : std::unexpected(foreign_file(use, path));
}

Result<> check_file(const fs::path& path, Use use) {
  REPRISE_ASSIGN(const auto status, find_status(path));
  if (!status) {
    return {};
  }
  if (S_ISLNK(status->st_mode)) {
    return std::unexpected(open_error(path, ELOOP));
  }
  return is_allowed(use, *status, path) ? Result<>() : std::unexpected(foreign_file(use, path));
}

Result<Fd> open_for(Use use, const fs::path& path, int flags, unsigned mode) {
  const bool is_plain = (flags & (O_DIRECTORY | O_PATH)) == 0;
  // Does not block on a pipe.
  const int extra_flags = is_plain ? O_NONBLOCK | O_NOCTTY : 0;
  const int all_flags = (flags & ~O_TRUNC) | extra_flags | O_CLOEXEC;
  Fd file = open_without_links(path, all_flags, static_cast<mode_t>(mode));
  if (!file.is_open()) {
    return std::unexpected(open_error(path, errno));
  }
  if (is_plain) {
    REPRISE_TRY(check_opened(file.get(), path, use));
  }
  // Truncates only after the owner has been checked.
  if ((flags & O_TRUNC) != 0 && ::ftruncate(file.get(), 0) != 0) {
    return std::unexpected(os_error("empty", path, errno));
  }
  return file;
}

}  // namespace

Result<struct stat> status_of(int fd, const fs::path& path) {
  struct stat status{};
  return ::fstat(fd, &status) == 0 ? Result<struct stat>(status)
                                   : std::unexpected(os_error("read", path, errno));
}

Result<std::optional<struct stat>> find_status(const fs::path& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) == 0) {
    return status;
  }
  return is_missing(errno) ? Result<std::optional<struct stat>>(std::nullopt)
                           : std::unexpected(os_error("access", path, errno));
}

Result<struct stat> get_status(const fs::path& path) {
  REPRISE_ASSIGN(const auto status, find_status(path));
  return status ? Result<struct stat>(*status) : std::unexpected(os_error("read", path, ENOENT));
}

Result<FileIdentity> identify(const fs::path& file) {
  const auto nanoseconds = [](const timespec& time) {
    return (static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000) + time.tv_nsec;
  };
  REPRISE_ASSIGN(const struct stat status, get_status(file));
  return FileIdentity{status.st_dev, status.st_ino, status.st_size, nanoseconds(status.st_mtim),
                      nanoseconds(status.st_ctim)};
}

Result<FileKind> kind_of(const fs::path& path) {
  REPRISE_ASSIGN(const auto status, find_status(path));
  return status ? kind_in(*status) : FileKind::none;
}

Result<FileKind> kind_of_target(const fs::path& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) {
    const bool is_none = is_missing(errno) || errno == ELOOP;
    return is_none ? Result<FileKind>(FileKind::none)
                   : std::unexpected(os_error("access", path, errno));
  }
  return kind_in(status);
}

Result<bool> file_exists(const fs::path& path) {
  REPRISE_ASSIGN(const FileKind kind, kind_of(path));
  return kind != FileKind::none;
}

Result<bool> is_folder(const fs::path& path) {
  REPRISE_ASSIGN(const FileKind kind, kind_of_target(path));
  return kind == FileKind::folder;
}

Result<Fd> open_file(const fs::path& path, int flags, unsigned mode) {
  return open_for((flags & O_ACCMODE) == O_RDONLY ? Use::read : Use::write, path, flags, mode);
}

Result<Fd> open_named_file(const fs::path& path) {
  return open_for(Use::read_named, path, O_RDONLY, 0);
}

Result<> check_target(const fs::path& path) {
  return check_file(path, Use::write);
}

Result<> check_source(const fs::path& path) {
  REPRISE_TRY(refuse_links(path));
  return check_file(path, Use::read);
}

Result<> refuse_links(const fs::path& path) {
  REPRISE_ASSIGN(const fs::path link, link_in(path));
  return link.empty() ? Result<>() : std::unexpected(open_error(path, ELOOP));
}

namespace {

// The target of a chain of links at the end of a path, existing or not.
Result<fs::path> follow_links(const fs::path& path) {
  fs::path target = path;
  for (int links = 0;; ++links) {
    REPRISE_ASSIGN(const FileKind kind, kind_of(target));
    if (kind != FileKind::link) {
      return target;
    }
    std::error_code error;
    const fs::path next = fs::read_symlink(target, error);
    if (error || links == kLinksMax) {
      return std::unexpected(os_error("follow the link", path, error ? error.value() : ELOOP));
    }
    target = folder_of(target) / next;
  }
}

}  // namespace

Result<fs::path> resolve_path(const fs::path& named) {
  REPRISE_ASSIGN(const fs::path link, link_in(named));
  if (link.empty()) {
    return named;
  }
  std::error_code error;
  const fs::path absolute = fs::absolute(named, error);
  if (error) {
    return std::unexpected(os_error("find", named, error.value()));
  }
  REPRISE_ASSIGN(fs::path target, follow_links(absolute));
  target = fs::weakly_canonical(target, error);
  if (error) {
    return std::unexpected(os_error("find", named, error.value()));
  }
  return target.has_filename() ? target : target.parent_path();
}

Result<fs::path> resolve_folder_of(const fs::path& named) {
  const fs::path file = named.has_filename() ? named : named.parent_path();
  REPRISE_ASSIGN(const fs::path folder, resolve_path(folder_of(file)));
  return folder / file.filename();
}

}  // namespace reprise
