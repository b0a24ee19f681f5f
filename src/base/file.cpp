#include "base/file.h"

#include <fcntl.h>
#include <stdio.h>  // renameat2
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/temporary_name.h"
#include "base/text.h"
#include "reprise/error.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

constexpr int kLinksMax = 40;  // as the kernel has it

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

Result<> fill_and_sync(const fs::path& path, const std::function<Result<>(int)>& fill,
                       mode_t mode) {
  REPRISE_ASSIGN(Fd file, open_file(path, O_RDWR | O_CREAT | O_EXCL, 0600));
  if (mode != 0600 && ::fchmod(file.get(), mode) != 0) {
    return std::unexpected(os_error("set the mode of", path, errno));
  }
  REPRISE_TRY(fill(file.get()));
  REPRISE_TRY(sync_file(file.get(), path));
  return file.close(path);
}

}  // namespace

Fd::~Fd() {
  if (fd_ >= 0) {
    ::close(fd_);
  }
}

Result<> Fd::close(const fs::path& path) {
  const int fd = std::exchange(fd_, -1);
  if (fd >= 0 && ::close(fd) != 0 && errno != EINTR) {
    return std::unexpected(os_error("close", path, errno));
  }
  return {};
}

Error os_error(std::string_view what, const fs::path& path, int os_errno) {
  return {code_for(os_errno),
          cat("cannot ", what, " ", path.string(), ": ",
              std::error_code(os_errno, std::generic_category()).message()),
          os_errno};
}

Result<Fd> open_file(const fs::path& path, int flags, unsigned mode) {
  const int fd =
      retried([&] { return ::open(path.c_str(), flags | O_CLOEXEC, static_cast<mode_t>(mode)); });
  if (fd < 0) {
    return std::unexpected(os_error("open", path, errno));
  }
  return Fd(fd);
}

Result<std::string> read_file(const fs::path& path, std::int64_t bytes_max) {
  REPRISE_ASSIGN(const Fd file, open_file(path, O_RDONLY | O_NONBLOCK));
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) {
    return std::unexpected(os_error("read", path, errno));
  }
  if (!S_ISREG(status.st_mode)) {
    return fail(Code::invalid_argument, cat("cannot read ", path.string(), ": not a file"));
  }
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

Result<> sync_folder(const fs::path& folder) {
  REPRISE_ASSIGN(const Fd fd, open_file(folder, O_RDONLY | O_DIRECTORY));
  return sync_file(fd.get(), folder);
}

Result<fs::path> follow_links(const fs::path& path) {
  fs::path target = path;
  std::error_code error;
  for (int links = 0; fs::is_symlink(target, error); ++links) {
    const fs::path next = fs::read_symlink(target, error);
    if (error || links == kLinksMax) {
      return std::unexpected(os_error("follow the link", path, error ? error.value() : ELOOP));
    }
    target = folder_of(target) / next;
  }
  return target;
}

Result<PreparedFile> PreparedFile::write(const fs::path& target, std::string_view bytes) {
  return write(target, [&](int fd) { return write_all(fd, bytes, target); });
}

Result<PreparedFile> PreparedFile::write(const fs::path& target,
                                         const std::function<Result<>(int fd)>& fill) {
  struct stat status{};
  const bool exists = ::stat(target.c_str(), &status) == 0;
  const mode_t mode = exists ? status.st_mode & 0777U : 0600U;
  PreparedFile prepared(temporary_beside(target));
  REPRISE_TRY(fill_and_sync(prepared.name_, fill, mode));
  return prepared;
}

PreparedFile::~PreparedFile() {
  if (!name_.empty()) {
    ::unlink(name_.c_str());
  }
}

Result<> PreparedFile::replace(const fs::path& target) {
  if (::rename(name_.c_str(), target.c_str()) != 0) {
    return std::unexpected(os_error("replace", target, errno));
  }
  name_.clear();
  return sync_folder(folder_of(target));
}

Result<> replace_file(const fs::path& path, std::string_view bytes,
                      const std::function<Result<>(const fs::path&)>& before_rename) {
  const auto fill = [&](int fd) { return write_all(fd, bytes, path); };
  return replace_file(path, fill, before_rename);
}

Result<> replace_file(const fs::path& path, const std::function<Result<>(int fd)>& fill,
                      const std::function<Result<>(const fs::path&)>& before_rename) {
  REPRISE_ASSIGN(const fs::path target, follow_links(path));
  REPRISE_ASSIGN(PreparedFile prepared, PreparedFile::write(target, fill));
  if (before_rename) {
    REPRISE_TRY(before_rename(prepared.name()));
  }
  return prepared.replace(target);
}

Result<> move_file(const fs::path& from, const fs::path& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) != 0) {
    const int os_errno = errno;
    if (os_errno == EEXIST) {
      return fail(Code::conflict, cat(to.string(), " exists already"), os_errno);
    }
    return std::unexpected(os_error(cat("move ", from.string(), " to"), to, os_errno));
  }
  REPRISE_TRY(sync_folder(folder_of(to)));
  return sync_folder(folder_of(from));
}

Result<> remove_file(const fs::path& file) {
  if (::unlink(file.c_str()) != 0) {
    return std::unexpected(os_error("remove", file, errno));
  }
  return sync_folder(folder_of(file));
}

fs::path folder_of(const fs::path& path) {
  const fs::path parent = path.parent_path();
  return parent.empty() ? fs::path(".") : parent;
}

Result<> make_private_folders(const fs::path& folder) {
  std::error_code error;
  if (folder.empty()) {
    return {};
  }
  if (fs::is_directory(folder, error)) {
    // One that is empty may have been made by somebody who could not sync it.
    auto synced = fs::is_empty(folder, error) ? sync_folder(folder_of(folder)) : Result<>();
    return synced || synced.error().os_errno == EACCES ? Result<>() : synced;
  }
  REPRISE_TRY(make_private_folders(folder.parent_path()));
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return std::unexpected(os_error("create the folder", folder, errno));
  }
  return sync_folder(folder_of(folder));
}

}  // namespace reprise
