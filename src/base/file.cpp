#include "base/file.h"

#include <fcntl.h>
#include <stdio.h>  // renameat2
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <mutex>
#include <system_error>
#include <vector>

#include "base/text.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

Code code_for(int os_errno) {
  switch (os_errno) {
    case ENOENT:
      return Code::not_found;
    case EEXIST:
      return Code::conflict;
    case ENAMETOOLONG:
    case EINVAL:
    case ELOOP:
      return Code::invalid_argument;
    default:
      return Code::io;
  }
}

template <class Call>
auto retried(Call call) {
  auto outcome = call();
  while (outcome < 0 && errno == EINTR) {
    outcome = call();
  }
  return outcome;
}

Result<Fd> open_folder(const fs::path& folder) {
  return open_file(folder, O_RDONLY | O_DIRECTORY);
}

// The parent folder of a path, for the *at() functions.
Result<Fd> open_parent(const fs::path& path) {
  return open_file(folder_of(path), O_PATH | O_DIRECTORY);
}

// A folder that may not be listed counts as not empty, since it is not ours.
Result<bool> is_empty_folder(const fs::path& folder) {
  std::error_code error;
  const bool is_empty = fs::is_empty(folder, error);
  if (error && error.value() != EACCES) {
    return std::unexpected(os_error("list", folder, error.value()));
  }
  return !error && is_empty;
}

// The files of all LockedFile objects.
class LockedFiles {
 public:
  static LockedFiles& instance() {
    static LockedFiles* const files = new LockedFiles;  // outlives all static objects
    return *files;
  }

  void add(std::pair<dev_t, ino_t> file) {
    const std::lock_guard guard(mutex_);
    ++files_[file].count;
    is_empty_ = false;
  }

  void remove(std::pair<dev_t, ino_t> file) {
    const std::lock_guard guard(mutex_);
    const auto found = files_.find(file);
    if (--found->second.count == 0) {
      for (const int fd : found->second.deferred) {
        ::close(fd);
      }
      files_.erase(found);
      is_empty_ = files_.empty();
    }
  }

  // 0, or -1 with errno.
  int close(int fd) {
    struct stat status{};
    if (is_empty_ || ::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
      return ::close(fd);
    }
    const std::lock_guard guard(mutex_);
    const auto found = files_.find({status.st_dev, status.st_ino});
    if (found == files_.end()) {
      return ::close(fd);
    }
    found->second.deferred.push_back(fd);
    return 0;
  }

 private:
  struct File {
    int count = 0;
    std::vector<int> deferred = {};  // descriptors to be closed with the last object
  };
  std::atomic<bool> is_empty_ = true;
  std::mutex mutex_;
  std::map<std::pair<dev_t, ino_t>, File> files_;
};

}  // namespace

Result<LockedFile> LockedFile::protect(const fs::path& file) {
  REPRISE_ASSIGN(const struct stat status, get_status(file));
  LockedFiles::instance().add({status.st_dev, status.st_ino});
  return LockedFile({status.st_dev, status.st_ino});
}

LockedFile::~LockedFile() {
  if (file_) {
    LockedFiles::instance().remove(*file_);
  }
}

Fd::~Fd() {
  if (fd_ >= 0) {
    LockedFiles::instance().close(fd_);
  }
}

Result<> Fd::close(const fs::path& path) {
  const int fd = std::exchange(fd_, -1);
  if (fd >= 0 && LockedFiles::instance().close(fd) != 0 && errno != EINTR) {
    return std::unexpected(os_error("close", path, errno));
  }
  return {};
}

Error os_error(std::string_view action, const fs::path& path, int os_errno) {
  return {code_for(os_errno),
          cat("cannot ", action, " ", without_temporary_names(path).string(), ": ",
              std::error_code(os_errno, std::generic_category()).message()),
          os_errno};
}

namespace {

Result<std::string> read_opened(const Fd& file, const fs::path& path, std::int64_t bytes_max) {
  REPRISE_ASSIGN(const struct stat status, status_of(file.get(), path));
  const auto too_large = [&] {
    return fail(Code::invalid_argument,
                cat("cannot read ", path.string(), ": larger than ", bytes_max, " bytes"));
  };
  if (status.st_size > bytes_max) {
    return too_large();
  }
  std::string bytes;
  bytes.reserve(static_cast<std::size_t>(status.st_size));  // it may grow meanwhile
  std::array<char, 65536> buffer{};
  while (true) {
    const ssize_t count = retried([&] { return ::read(file.get(), buffer.data(), buffer.size()); });
    if (count < 0) {
      return std::unexpected(os_error("read", path, errno));
    }
    if (count == 0) {
      return bytes;
    }
    bytes.append(buffer.data(), static_cast<std::size_t>(count));
    if (static_cast<std::int64_t>(bytes.size()) > bytes_max) {
      return too_large();
    }
  }
}

}  // namespace

Result<std::size_t> read_at(int fd, std::span<char> into, std::int64_t offset,
                            const fs::path& path) {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t count = retried([&] {
      return ::pread(fd, into.data() + done, into.size() - done,
                     static_cast<off_t>(offset) + static_cast<off_t>(done));
    });
    if (count < 0) {
      return std::unexpected(os_error("read", path, errno));
    }
    if (count == 0) {
      break;
    }
    done += static_cast<std::size_t>(count);
  }
  return done;
}

Result<Fd> open_foreign(const fs::path& file) {
  auto fd = open_file(file, O_RDONLY | O_NOATIME);
  // Only the owner may use O_NOATIME.
  return !fd && fd.error().os_errno == EPERM ? open_file(file, O_RDONLY) : std::move(fd);
}

Result<std::string> read_file(const fs::path& path, std::int64_t bytes_max) {
  REPRISE_ASSIGN(const Fd file, open_file(path, O_RDONLY));
  return read_opened(file, path, bytes_max);
}

Result<std::string> read_named_file(const fs::path& path, std::int64_t bytes_max) {
  REPRISE_ASSIGN(const Fd file, open_named_file(path));
  return read_opened(file, path, bytes_max);
}

Result<> write_all(int fd, std::string_view bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t count = retried([&] { return ::write(fd, bytes.data(), bytes.size()); });
    if (count < 0) {
      return std::unexpected(os_error("write", path, errno));
    }
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

Result<> sync_file(int fd, const fs::path& path) {
  if (retried([&] { return ::fsync(fd); }) != 0) {
    return std::unexpected(os_error("sync", path, errno));
  }
  return {};
}

void begin_sync(int fd) {
  (void)::sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
}

Result<> sync_folder(const fs::path& folder) {
  REPRISE_ASSIGN(const Fd fd, open_folder(folder));
  return sync_file(fd.get(), folder);
}

Result<PreparedFile> PreparedFile::write(const fs::path& target, std::string_view bytes) {
  return write(target, [&](int fd) { return write_all(fd, bytes, target); });
}

Result<PreparedFile> PreparedFile::write(const fs::path& target,
                                         const std::function<Result<>(int fd)>& fill) {
  REPRISE_ASSIGN(const auto status, find_status(target));
  const bool exists = status && S_ISREG(status->st_mode);
  const mode_t mode = exists ? status->st_mode & 0777U : 0600U;
  REPRISE_ASSIGN(TemporaryFile file, TemporaryFile::create(target));
  REPRISE_TRY(fill(file.fd()));
  if (mode != 0600 && ::fchmod(file.fd(), mode) != 0) {
    return std::unexpected(os_error("set the mode of", file.name(), errno));
  }
  REPRISE_TRY(sync_file(file.fd(), file.name()));
  // Reports errors of close(2) on a duplicate. The file stays open, and thereby locked, until it is
  // renamed.
  Fd second(::fcntl(file.fd(), F_DUPFD_CLOEXEC, 0));
  REPRISE_TRY(second.close(file.name()));
  return PreparedFile(std::move(file));
}

Result<> PreparedFile::replace(const fs::path& target) {
  REPRISE_ASSIGN(const Fd folder, open_folder(folder_of(target)));
  const bool moves = folder_of(name()) != folder_of(target);
  REPRISE_ASSIGN(const Fd other, moves ? open_parent(name()) : Result<Fd>(Fd()));
  REPRISE_TRY(check_target(target));
  const int from = moves ? other.get() : folder.get();
  if (::renameat(from, name().filename().c_str(), folder.get(), target.filename().c_str()) != 0) {
    return std::unexpected(os_error("replace", target, errno));
  }
  file_.release();
  return sync_file(folder.get(), folder_of(target));
}

Result<> replace_file(const fs::path& path, std::string_view bytes,
                      const std::function<Result<>(const fs::path&)>& before_rename) {
  const auto fill = [&](int fd) { return write_all(fd, bytes, path); };
  return replace_file(path, fill, before_rename);
}

Result<> replace_file(const fs::path& path, const std::function<Result<>(int fd)>& fill,
                      const std::function<Result<>(const fs::path&)>& before_rename) {
  REPRISE_TRY(check_target(path));
  REPRISE_ASSIGN(PreparedFile prepared, PreparedFile::write(path, fill));
  if (before_rename) {
    REPRISE_TRY(before_rename(prepared.name()));
  }
  return prepared.replace(path);
}

Result<> move_file(const fs::path& from, const fs::path& to) {
  REPRISE_ASSIGN(const Fd source, open_folder(folder_of(from)));
  REPRISE_ASSIGN(const Fd target, open_folder(folder_of(to)));
  const std::string name = from.filename();
  const std::string new_name = to.filename();
  int outcome =
      ::renameat2(source.get(), name.c_str(), target.get(), new_name.c_str(), RENAME_NOREPLACE);
  if (outcome != 0 && (errno == EINVAL || errno == ENOSYS)) {
    // The file system does not support RENAME_NOREPLACE; link(2) never replaces either.
    outcome = ::linkat(source.get(), name.c_str(), target.get(), new_name.c_str(), 0);
    outcome = outcome == 0 ? ::unlinkat(source.get(), name.c_str(), 0) : outcome;
  }
  if (outcome != 0) {
    const int os_errno = errno;
    if (os_errno == EEXIST) {
      return fail(Code::conflict, cat(to.string(), " already exists"), os_errno);
    }
    return std::unexpected(os_error(cat("move ", from.string(), " to"), to, os_errno));
  }
  REPRISE_TRY(sync_file(target.get(), folder_of(to)));
  return sync_file(source.get(), folder_of(from));
}

Result<> link_file(const fs::path& from, const fs::path& to) {
  REPRISE_TRY(check_target(from));
  REPRISE_ASSIGN(const Fd source, open_folder(folder_of(from)));
  REPRISE_ASSIGN(const Fd target, open_folder(folder_of(to)));
  const std::string name = from.filename();
  const std::string new_name = to.filename();
  if (::linkat(source.get(), name.c_str(), target.get(), new_name.c_str(), 0) != 0) {
    const int os_errno = errno;
    struct stat old{};
    struct stat present{};
    const bool is_same =
        os_errno == EEXIST &&
        ::fstatat(source.get(), name.c_str(), &old, AT_SYMLINK_NOFOLLOW) == 0 &&
        ::fstatat(target.get(), new_name.c_str(), &present, AT_SYMLINK_NOFOLLOW) == 0 &&
        old.st_ino == present.st_ino && old.st_dev == present.st_dev;
    if (!is_same) {
      return std::unexpected(os_error(cat("link ", from.string(), " to"), to, os_errno));
    }
  }
  return sync_file(target.get(), folder_of(to));
}

Result<> remove_file(const fs::path& file) {
  REPRISE_ASSIGN(const Fd folder, open_folder(folder_of(file)));
  if (::unlinkat(folder.get(), file.filename().c_str(), 0) != 0) {
    return std::unexpected(os_error("remove", file, errno));
  }
  remove_temporary_files(file);
  return sync_file(folder.get(), folder_of(file));
}

Result<> remove_if_exists(const fs::path& file) {
  REPRISE_ASSIGN(const auto folder, if_exists(open_parent(file)));
  if (!folder) {
    return {};
  }
  if (::unlinkat(folder->get(), file.filename().c_str(), 0) != 0 && errno != ENOENT) {
    return std::unexpected(os_error("remove", file, errno));
  }
  return {};
}

Result<> remove_tree(const fs::path& folder) {
  REPRISE_ASSIGN(const auto parent, if_exists(open_parent(folder)));
  if (!parent) {
    return {};
  }
  std::error_code error;
  fs::remove_all(folder, error);
  return error ? std::unexpected(os_error("remove", folder, error.value())) : Result<>();
}

fs::path folder_of(const fs::path& path) {
  const fs::path parent = path.parent_path();
  return parent.empty() ? fs::path(".") : parent;
}

Result<> make_private_folders(const fs::path& folder) {
  if (folder.empty()) {
    return {};
  }
  if (const auto opened = open_file(folder, O_PATH | O_DIRECTORY); opened) {
    // An empty folder may have been created by a process that was killed before it synced the
    // parent.
    REPRISE_ASSIGN(const bool is_empty, is_empty_folder(folder));
    auto synced = is_empty ? sync_folder(folder_of(folder)) : Result<>();
    return synced || synced.error().os_errno == EACCES ? Result<>() : synced;
  } else if (opened.error().code != Code::not_found) {
    return std::unexpected(opened.error());
  }
  REPRISE_TRY(make_private_folders(folder.parent_path()));
  REPRISE_ASSIGN(const Fd parent, open_folder(folder_of(folder)));
  if (::mkdirat(parent.get(), folder.filename().c_str(), 0700) != 0 && errno != EEXIST) {
    return std::unexpected(os_error("create the folder", folder, errno));
  }
  return sync_file(parent.get(), folder_of(folder));
}

}  // namespace reprise
