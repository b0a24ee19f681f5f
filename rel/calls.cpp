#include "calls.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "watched.h"

namespace reprise::rel {
namespace {

enum class Sort : std::uint8_t { reading, changing, writing };

// The C library's syscall(): ours, which intercepts openat2, replaces it under its name.
template <class... Arguments>
long real_syscall(long number, Arguments... arguments) {
  using Syscall = long (*)(long, ...);
  static const auto real = std::bit_cast<Syscall>(::dlsym(RTLD_NEXT, "syscall"));
  return real(number, arguments...);  // NOLINT(cppcoreguidelines-pro-type-vararg)
}

// This must work before main() and in a forked child, so only a string and a list have
// constructors.
struct Watched {
  std::string folder;
  Trap trap;
  ChangeListener* listener = nullptr;
  std::atomic<std::int64_t> all = 0;
  std::atomic<std::int64_t> changes = 0;
  std::vector<std::int64_t> delicate;
  std::atomic<bool> sprung = false;
};

constexpr std::size_t kFdsMax = 4096;

std::atomic<bool> is_watching = false;
Watched& watched() {
  static Watched all_of_it;
  return all_of_it;
}
std::array<std::atomic<bool>, kFdsMax> fd_counts{};

bool counts(int fd) {
  return is_watching && fd >= 0 && static_cast<std::size_t>(fd) < kFdsMax &&
         fd_counts.at(static_cast<std::size_t>(fd));
}

bool counts(std::string_view path) {
  const std::string& folder = watched().folder;
  return is_watching && path.starts_with(folder) &&
         (path.size() == folder.size() || path[folder.size()] == '/');
}

std::string path_of(int fd) {
  std::array<char, 4096> buffer{};
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const long got = real_syscall(SYS_readlink, link.c_str(), buffer.data(), buffer.size());
  return got > 0 ? std::string(buffer.data(), static_cast<std::size_t>(got)) : std::string();
}

std::string absolute(int folder, const char* path) {
  if (path[0] == '/' || !is_watching) {
    return path;
  }
  std::array<char, 4096> here{};
  const std::string base = folder != AT_FDCWD ? path_of(folder)
                           : real_syscall(SYS_getcwd, here.data(), here.size()) > 0
                               ? std::string(here.data())
                               : std::string();
  return base + "/" + path;
}

// Counts a call. True if it must fail; then errno is set.
bool is_trapped(Sort sort) {
  Watched& now = watched();
  const std::int64_t number = ++now.all;
  const std::int64_t change = sort == Sort::reading ? now.changes.load() : ++now.changes;
  const Trap& trap = now.trap;
  if (trap.what == Trap::What::kill && sort != Sort::reading && change == trap.at) {
    ::kill(::getpid(), SIGKILL);
  }
  if (trap.what == Trap::What::fail &&
      (number == trap.at || (trap.lasting && number > trap.at && sort != Sort::reading))) {
    errno = trap.error;
    return true;
  }
  if (trap.what == Trap::What::short_write && now.sprung && trap.lasting && sort == Sort::writing) {
    errno = trap.error;
    return true;
  }
  return false;
}

// How many bytes the trap allows to be written.
std::size_t granted(std::size_t size) {
  Watched& now = watched();
  if (now.trap.what == Trap::What::short_write && now.all >= now.trap.at && size > 1 &&
      !now.sprung.exchange(true)) {
    return size / 2;
  }
  return size;
}

ChangeListener* listener() {
  return watched().listener;
}

// Makes a call, and reports it to the listener if it succeeds.
template <class Call, class Report>
long change(Sort sort, Call call, Report report) {
  if (is_trapped(sort)) {
    return -1;
  }
  const long done = call();
  if (done >= 0 && listener() != nullptr) {
    const int saved_errno = errno;
    is_watching = false;  // do not watch the listener's own calls
    report(done);
    is_watching = true;
    errno = saved_errno;
  }
  return done;
}

}  // namespace

namespace {

// Opens with `raw`.
template <class Raw>
int open_as(int folder, const char* path, int flags, Raw raw) {
  const std::string target = absolute(folder, path);
  const bool creates = (flags & O_CREAT) != 0;
  const bool changes = creates || (flags & O_TRUNC) != 0;
  if (!counts(target)) {
    return static_cast<int>(raw());
  }
  if (is_trapped(changes ? Sort::changing : Sort::reading)) {
    return -1;
  }
  if ((flags & O_DIRECTORY) != 0) {
    watched().delicate.push_back(watched().all);
  }
  const bool was_there = real_syscall(SYS_access, target.c_str(), F_OK) == 0;
  const int fd = static_cast<int>(raw());
  if (fd >= 0 && static_cast<std::size_t>(fd) < kFdsMax) {
    fd_counts.at(static_cast<std::size_t>(fd)) = true;
    if (listener() != nullptr) {
      is_watching = false;
      listener()->opened(fd, target, creates && !was_there, (flags & O_TRUNC) != 0);
      is_watching = true;
    }
  }
  return fd;
}

}  // namespace

int open_watched(int folder, const char* path, int flags, unsigned mode) {
  return open_as(folder, path, flags,
                 [&] { return real_syscall(SYS_openat, folder, path, flags, mode); });
}

long syscall_watched(long number, const std::array<long, 6>& arguments) {
  const auto& [a, b, c, d, e, f] = arguments;
  const auto raw = [&] { return real_syscall(number, a, b, c, d, e, f); };
  if (number != SYS_openat2) {
    return raw();
  }
  const auto* const how = std::bit_cast<const open_how*>(c);
  return open_as(static_cast<int>(a), std::bit_cast<const char*>(b), static_cast<int>(how->flags),
                 raw);
}

int close_watched(int fd) {
  if (counts(fd)) {
    if (listener() != nullptr) {
      listener()->closed(fd);
    }
    fd_counts.at(static_cast<std::size_t>(fd)) = false;
  }
  return static_cast<int>(real_syscall(SYS_close, fd));
}

ssize_t write_watched(int fd, const void* bytes, std::size_t size, const off_t* position) {
  const auto raw = [&](std::size_t part) {
    return position != nullptr ? real_syscall(SYS_pwrite64, fd, bytes, part, *position)
                               : real_syscall(SYS_write, fd, bytes, part);
  };
  if (!counts(fd)) {
    return raw(size);
  }
  return change(
      Sort::writing, [&] { return raw(granted(size)); },
      [&](long done) {
        const std::int64_t offset =
            position != nullptr ? *position : real_syscall(SYS_lseek, fd, 0, SEEK_CUR) - done;
        listener()->wrote(fd, offset,
                          {static_cast<const char*>(bytes), static_cast<std::size_t>(done)});
      });
}

// Writes only the first part, which the C library may do, too.
ssize_t writev_watched(int fd, const iovec* parts, int count) {
  if (!counts(fd)) {
    return real_syscall(SYS_writev, fd, parts, count);
  }
  const iovec* const full =
      std::find_if(parts, parts + count, [](const iovec& part) { return part.iov_len > 0; });
  return full == parts + count ? 0 : write_watched(fd, full->iov_base, full->iov_len, nullptr);
}

ssize_t read_watched(int fd, void* bytes, std::size_t size, const off_t* position) {
  if (counts(fd)) {
    if (is_trapped(Sort::reading)) {
      return -1;
    }
    const Watched& now = watched();
    size -= now.trap.what == Trap::What::short_read && now.all >= now.trap.at ? size / 2 : 0;
  }
  return position != nullptr ? real_syscall(SYS_pread64, fd, bytes, size, *position)
                             : real_syscall(SYS_read, fd, bytes, size);
}

namespace {

// Counts a call that only reads.
bool is_overlooked() {
  const bool fails = is_trapped(Sort::reading);
  watched().delicate.push_back(watched().all);
  return fails;
}

// Whether a stat call must fail.
bool is_hidden(int folder, const char* path, int flags) {
  const bool is_own = path == nullptr || path[0] == '\0';
  const bool is_counted = is_own && (flags & AT_EMPTY_PATH) != 0
                              ? counts(folder)
                              : is_watching && !is_own && counts(absolute(folder, path));
  return is_counted && is_overlooked();
}

}  // namespace

int stat_watched(int folder, const char* path, void* out, int flags) {
  return is_hidden(folder, path, flags)
             ? -1
             : static_cast<int>(real_syscall(SYS_newfstatat, folder, path, out, flags));
}

int stat_watched(int folder, const char* path, int flags, unsigned mask, void* out) {
  return is_hidden(folder, path, flags)
             ? -1
             : static_cast<int>(real_syscall(SYS_statx, folder, path, flags, mask, out));
}

bool fails_to_list(int folder) {
  return counts(folder) && is_overlooked();
}

// Releasing a lock does not fail.
int control_watched(int fd, int command, long argument) {
  const bool asks = command == F_OFD_GETLK || command == F_GETLK;
  const bool sets = command == F_OFD_SETLK || command == F_OFD_SETLKW || command == F_SETLK ||
                    command == F_SETLKW;
  const bool takes = sets && std::bit_cast<const struct flock*>(argument)->l_type != F_UNLCK;
  if ((asks || takes) && counts(fd) && is_overlooked()) {
    return -1;
  }
  return static_cast<int>(real_syscall(SYS_fcntl, fd, command, argument));
}

int lock_watched(int fd, int operation) {
  if ((operation & LOCK_UN) == 0 && counts(fd) && is_overlooked()) {
    return -1;
  }
  return static_cast<int>(real_syscall(SYS_flock, fd, operation));
}

int sync_watched(int fd, long call) {
  if (!counts(fd)) {
    return static_cast<int>(real_syscall(call, fd));
  }
  const long done = change(
      Sort::changing, [&] { return real_syscall(call, fd); },
      [&](long /*done*/) { listener()->synced(fd); });
  watched().delicate.push_back(watched().all);
  return static_cast<int>(done);
}

int truncate_watched(int fd, off_t size) {
  if (!counts(fd)) {
    return static_cast<int>(real_syscall(SYS_ftruncate, fd, size));
  }
  return static_cast<int>(change(
      Sort::changing, [&] { return real_syscall(SYS_ftruncate, fd, size); },
      [&](long /*done*/) { listener()->resized(fd, size); }));
}

int rename_watched(int old_folder, const char* from, int new_folder, const char* to,
                   unsigned flags) {
  const auto raw = [&] {
    return real_syscall(SYS_renameat2, old_folder, from, new_folder, to, flags);
  };
  const std::string source = absolute(old_folder, from);
  const std::string target = absolute(new_folder, to);
  if (!counts(source) && !counts(target)) {
    return static_cast<int>(raw());
  }
  return static_cast<int>(
      change(Sort::changing, raw, [&](long /*done*/) { listener()->renamed(source, target); }));
}

int remove_watched(int folder, const char* path, int flags) {
  const std::string target = absolute(folder, path);
  const auto raw = [&] { return real_syscall(SYS_unlinkat, folder, path, flags); };
  if (!counts(target)) {
    return static_cast<int>(raw());
  }
  return static_cast<int>(
      change(Sort::changing, raw, [&](long /*done*/) { listener()->removed(target); }));
}

int make_folder_watched(int folder, const char* path, mode_t mode) {
  const std::string target = absolute(folder, path);
  const auto raw = [&] { return real_syscall(SYS_mkdirat, folder, path, mode); };
  if (!counts(target)) {
    return static_cast<int>(raw());
  }
  return static_cast<int>(
      change(Sort::changing, raw, [&](long /*done*/) { listener()->made_folder(target); }));
}

int link_watched(int old_folder, const char* from, int new_folder, const char* to) {
  const std::string old_target = absolute(old_folder, from);
  const std::string target = absolute(new_folder, to);
  const auto raw = [&] { return real_syscall(SYS_linkat, old_folder, from, new_folder, to, 0); };
  if (!counts(target)) {
    return static_cast<int>(raw());
  }
  return static_cast<int>(
      change(Sort::changing, raw, [&](long /*done*/) { listener()->linked(old_target, target); }));
}

int symlink_watched(const char* target, int folder, const char* path) {
  const std::string link = absolute(folder, path);
  const auto raw = [&] { return real_syscall(SYS_symlinkat, target, folder, path); };
  if (!counts(link)) {
    return static_cast<int>(raw());
  }
  return static_cast<int>(
      change(Sort::changing, raw, [&](long /*done*/) { listener()->pointed(link, target); }));
}

void watch(std::string_view folder, const Trap& trap, ChangeListener* listener) {
  Watched& now = watched();
  now.folder = folder;
  now.trap = trap;
  now.listener = listener;
  now.all = 0;
  now.changes = 0;
  now.delicate.clear();
  now.sprung = false;
  is_watching = true;
}

void unwatch() {
  is_watching = false;
  watched().listener = nullptr;
}

CallCounts call_counts() {
  const Watched& now = watched();
  return {now.all, now.changes, now.delicate};
}

}  // namespace reprise::rel
