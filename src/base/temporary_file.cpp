#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <system_error>

#include "base/file.h"
#include "base/text.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".tmp";
constexpr std::string_view kMark = ".reprise-";
constexpr std::size_t kNameBytesMax = 255;
constexpr int kNumbersMax = 1000;
constexpr int kMissingMax = 3;

fs::path numbered(const fs::path& path, int number) {
  const std::string end = cat(kMark, number, kSuffix);
  std::string name = path.filename();
  // Files whose long names have the same prefix share these names, with different numbers.
  name.resize(std::min(name.size(), kNameBytesMax - end.size()));
  return path.parent_path() / (name + end);
}

// Locks the first byte, which SQLite does not lock. The lock ends when the file is closed, even by
// a crash.
bool try_lock(int fd) {
  struct flock range{};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = 0;
  range.l_len = 1;
  return ::fcntl(fd, F_OFD_SETLK, &range) == 0;
}

// Without locks, no temporary file is known to be abandoned.
bool are_locks_unsupported() {
  return errno != EAGAIN && errno != EACCES;
}

bool is_named(int fd, const fs::path& name) {
  struct stat open{};
  struct stat named{};
  return ::fstat(fd, &open) == 0 && ::lstat(name.c_str(), &named) == 0 &&
         open.st_ino == named.st_ino && open.st_dev == named.st_dev;
}

// Removes a temporary file whose process is gone. This cannot race with a process between creating
// and locking it: after locking, that process checks whether the file still has its name.
bool remove_abandoned(const fs::path& name) {
  const auto file = open_file(name, O_RDWR);
  if (!file || !try_lock(file->get()) || !is_named(file->get(), name)) {
    return false;
  }
  return ::unlink(name.c_str()) == 0;
}

// Starts at `number`. Numbers may be missing after concurrent writes.
void sweep(const fs::path& path, int number) {
  for (int missing = 0; missing < kMissingMax && number < kNumbersMax; ++number) {
    struct stat status{};
    const fs::path name = numbered(path, number);
    if (::lstat(name.c_str(), &status) != 0) {
      ++missing;
    } else {
      (void)remove_abandoned(name);
    }
  }
}

// nullopt if another process owns that name.
Result<std::optional<Fd>> try_create(const fs::path& name) {
  auto created = open_file(name, O_RDWR | O_CREAT | O_EXCL, 0600);
  if (!created && created.error().os_errno == EEXIST && remove_abandoned(name)) {
    created = open_file(name, O_RDWR | O_CREAT | O_EXCL, 0600);
  }
  if (!created && created.error().os_errno == EEXIST) {
    return std::nullopt;
  }
  if (!created) {
    return std::unexpected(std::move(created).error());
  }
  const bool is_ours = try_lock(created->get()) || are_locks_unsupported();
  return is_ours && is_named(created->get(), name) ? std::optional(*std::move(created))
                                                   : std::nullopt;
}

// Removes ".<digits>" from the end.
bool remove_number(std::string_view& name) {
  const std::size_t point = name.find_last_not_of("0123456789");
  if (point == std::string_view::npos || name[point] != '.' || point + 1 == name.size()) {
    return false;
  }
  name.remove_suffix(name.size() - point);
  return true;
}

bool is_numbered(std::string_view name) {
  const std::size_t mark = name.rfind(kMark);
  const std::string_view number =
      mark == std::string_view::npos ? "" : name.substr(mark + kMark.size());
  return mark > 0 && !number.empty() &&
         number.find_first_not_of("0123456789") == std::string_view::npos;
}

// This version does not write such names, so one with our own pid is from an earlier process.
bool has_ended(std::int64_t pid) {
  return pid == ::getpid() || (::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH);
}

struct TemporaryName {
  std::string_view target;  // the file to be replaced
  bool is_locked;           // by its writer; otherwise its process is known to be gone
};

// nullopt for other names, and for those of processes that may still be alive.
std::optional<TemporaryName> read_name(std::string_view name) {
  if (!is_temporary_name(name)) {
    return std::nullopt;
  }
  name.remove_suffix(kSuffix.size());
  if (is_numbered(name)) {
    return TemporaryName{name.substr(0, name.rfind(kMark)), true};
  }
  remove_number(name);
  const auto pid = parse_number<std::int64_t>(name.substr(name.rfind('.') + 1));
  remove_number(name);
  return pid && has_ended(*pid) ? std::optional(TemporaryName{name, false}) : std::nullopt;
}

}  // namespace

Result<TemporaryFile> TemporaryFile::create(const fs::path& path) {
  for (int number = 0; number < kNumbersMax; ++number) {
    fs::path name = numbered(path, number);
    auto created = try_create(name);
    if (!created) {
      // Report the name that the user knows; links are reported as such.
      return created.error().os_errno == 0 || created.error().os_errno == ELOOP
                 ? Result<TemporaryFile>(std::unexpected(std::move(created).error()))
                 : Result<TemporaryFile>(
                       std::unexpected(os_error("write", path, created.error().os_errno)));
    }
    std::optional<Fd> fd = *std::move(created);
    if (fd) {
      sweep(path, number + 1);
      return TemporaryFile(std::move(name), *std::move(fd));
    }
  }
  return fail(Code::conflict, cat("cannot write ", path.string(), ": there are ", kNumbersMax,
                                  " temporary files beside it"));
}

void remove_temporary_files(const fs::path& path) {
  sweep(path, 0);
}

void sweep_temporary_files(const fs::path& folder,
                           const std::function<bool(std::string_view name)>& is_target) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path& path = entry->path();
    const std::string name = path.filename();
    if (const auto found = read_name(name); found && is_target(found->target)) {
      (void)(found->is_locked ? remove_abandoned(path) : ::unlink(path.c_str()) == 0);
    }
  }
}

TemporaryFile::~TemporaryFile() {
  if (!name_.empty()) {
    ::unlink(name_.c_str());
  }
}

Fd TemporaryFile::release() {
  name_.clear();
  return std::exchange(fd_, Fd());
}

bool is_temporary_name(std::string_view name) {
  if (!name.ends_with(kSuffix)) {
    return false;
  }
  name.remove_suffix(kSuffix.size());
  return is_numbered(name) || (remove_number(name) && remove_number(name) && !name.empty());
}

fs::path without_temporary_names(const fs::path& path) {
  if (!path.native().contains(kMark)) {
    return path;
  }
  fs::path out;
  for (const fs::path& part : path) {
    std::string_view name = part.native();
    while (is_temporary_name(name) && is_numbered(name.substr(0, name.size() - kSuffix.size()))) {
      name = name.substr(0, name.rfind(kMark));
    }
    out /= name;
  }
  return out;
}

}  // namespace reprise
