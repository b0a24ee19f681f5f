#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cstddef>

#include "watched.h"

// The C library's functions, under its names. NOLINTBEGIN(readability-identifier-naming,
// readability-inconsistent-declaration-parameter-name,cert-dcl50-cpp,bugprone-reserved-identifier)
extern "C" {

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const unsigned mode = va_arg(rest, unsigned);
  va_end(rest);
  return reprise::rel::open_watched(AT_FDCWD, path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const unsigned mode = va_arg(rest, unsigned);
  va_end(rest);
  return reprise::rel::open_watched(AT_FDCWD, path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const unsigned mode = va_arg(rest, unsigned);
  va_end(rest);
  return reprise::rel::open_watched(folder, path, flags, mode);
}

int openat64(int folder, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const unsigned mode = va_arg(rest, unsigned);
  va_end(rest);
  return reprise::rel::open_watched(folder, path, flags, mode);
}

int close(int fd) {
  return reprise::rel::close_watched(fd);
}

ssize_t read(int fd, void* bytes, std::size_t size) {
  return reprise::rel::read_watched(fd, bytes, size, nullptr);
}
ssize_t pread(int fd, void* bytes, std::size_t size, off_t position) {
  return reprise::rel::read_watched(fd, bytes, size, &position);
}
ssize_t pread64(int fd, void* bytes, std::size_t size, off64_t position) {
  return reprise::rel::read_watched(fd, bytes, size, &position);
}
ssize_t write(int fd, const void* bytes, std::size_t size) {
  return reprise::rel::write_watched(fd, bytes, size, nullptr);
}
ssize_t pwrite(int fd, const void* bytes, std::size_t size, off_t position) {
  return reprise::rel::write_watched(fd, bytes, size, &position);
}
ssize_t pwrite64(int fd, const void* bytes, std::size_t size, off64_t position) {
  return reprise::rel::write_watched(fd, bytes, size, &position);
}
ssize_t writev(int fd, const iovec* parts, int count) {
  return reprise::rel::writev_watched(fd, parts, count);
}

int fsync(int fd) {
  return reprise::rel::sync_watched(fd, SYS_fsync);
}
int fdatasync(int fd) {
  return reprise::rel::sync_watched(fd, SYS_fdatasync);
}
int ftruncate(int fd, off_t size) noexcept {
  return reprise::rel::truncate_watched(fd, size);
}
int ftruncate64(int fd, off64_t size) noexcept {
  return reprise::rel::truncate_watched(fd, size);
}

int stat(const char* path, struct stat* out) noexcept {
  return reprise::rel::stat_watched(AT_FDCWD, path, out, 0);
}
int stat64(const char* path, struct stat64* out) noexcept {
  return reprise::rel::stat_watched(AT_FDCWD, path, out, 0);
}
int lstat(const char* path, struct stat* out) noexcept {
  return reprise::rel::stat_watched(AT_FDCWD, path, out, AT_SYMLINK_NOFOLLOW);
}
int lstat64(const char* path, struct stat64* out) noexcept {
  return reprise::rel::stat_watched(AT_FDCWD, path, out, AT_SYMLINK_NOFOLLOW);
}
int fstat(int fd, struct stat* out) noexcept {
  return reprise::rel::stat_watched(fd, "", out, AT_EMPTY_PATH);
}
int fstat64(int fd, struct stat64* out) noexcept {
  return reprise::rel::stat_watched(fd, "", out, AT_EMPTY_PATH);
}
int fstatat(int folder, const char* path, struct stat* out, int flags) noexcept {
  return reprise::rel::stat_watched(folder, path, out, flags);
}
int fstatat64(int folder, const char* path, struct stat64* out, int flags) noexcept {
  return reprise::rel::stat_watched(folder, path, out, flags);
}
int statx(int folder, const char* path, int flags, unsigned mask, struct statx* out) noexcept {
  return reprise::rel::stat_watched(folder, path, flags, mask, out);
}

dirent* readdir(DIR* folder) {
  static const auto real = std::bit_cast<dirent* (*)(DIR*)>(::dlsym(RTLD_NEXT, "readdir"));
  return reprise::rel::fails_to_list(::dirfd(folder)) ? nullptr : real(folder);
}
dirent64* readdir64(DIR* folder) {
  static const auto real = std::bit_cast<dirent64* (*)(DIR*)>(::dlsym(RTLD_NEXT, "readdir64"));
  return reprise::rel::fails_to_list(::dirfd(folder)) ? nullptr : real(folder);
}

int fcntl(int fd, int command, ...) {
  va_list rest;
  va_start(rest, command);
  const long argument = va_arg(rest, long);
  va_end(rest);
  return reprise::rel::control_watched(fd, command, argument);
}
int fcntl64(int fd, int command, ...) {
  va_list rest;
  va_start(rest, command);
  const long argument = va_arg(rest, long);
  va_end(rest);
  return reprise::rel::control_watched(fd, command, argument);
}
int flock(int fd, int operation) noexcept {
  return reprise::rel::lock_watched(fd, operation);
}

int rename(const char* from, const char* to) noexcept {
  return reprise::rel::rename_watched(AT_FDCWD, from, AT_FDCWD, to, 0);
}
int renameat(int old_folder, const char* from, int new_folder, const char* to) noexcept {
  return reprise::rel::rename_watched(old_folder, from, new_folder, to, 0);
}
int renameat2(int old_folder, const char* from, int new_folder, const char* to,
              unsigned flags) noexcept {
  return reprise::rel::rename_watched(old_folder, from, new_folder, to, flags);
}
int unlink(const char* path) noexcept {
  return reprise::rel::remove_watched(AT_FDCWD, path, 0);
}
int unlinkat(int folder, const char* path, int flags) noexcept {
  return reprise::rel::remove_watched(folder, path, flags);
}
int rmdir(const char* path) noexcept {
  return reprise::rel::remove_watched(AT_FDCWD, path, AT_REMOVEDIR);
}
int remove(const char* path) noexcept {
  struct stat what{};
  const bool is_folder = ::lstat(path, &what) == 0 && S_ISDIR(what.st_mode);
  return reprise::rel::remove_watched(AT_FDCWD, path, is_folder ? AT_REMOVEDIR : 0);
}
int mkdir(const char* path, mode_t mode) noexcept {
  return reprise::rel::make_folder_watched(AT_FDCWD, path, mode);
}
int mkdirat(int folder, const char* path, mode_t mode) noexcept {
  return reprise::rel::make_folder_watched(folder, path, mode);
}
int link(const char* from, const char* to) noexcept {
  return reprise::rel::link_watched(AT_FDCWD, from, AT_FDCWD, to);
}
int linkat(int old_folder, const char* from, int new_folder, const char* to,
           int /*flags*/) noexcept {
  return reprise::rel::link_watched(old_folder, from, new_folder, to);
}
int symlink(const char* target, const char* path) noexcept {
  return reprise::rel::symlink_watched(target, AT_FDCWD, path);
}
int symlinkat(const char* target, int folder, const char* path) noexcept {
  return reprise::rel::symlink_watched(target, folder, path);
}

// openat2 has no wrapper function.
long syscall(long number, ...) noexcept {
  va_list rest;
  va_start(rest, number);
  std::array<long, 6> all{};
  for (long& one : all) {
    one = va_arg(rest, long);
  }
  va_end(rest);
  return reprise::rel::syscall_watched(number, all);
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming,readability-inconsistent-declaration-parameter-name,
// cert-dcl50-cpp,bugprone-reserved-identifier)
