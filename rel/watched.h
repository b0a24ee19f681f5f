#pragma once

// The watched system calls behind the C library's functions (see calls.h), with the same return
// values and errno.

#include <sys/types.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>

namespace reprise::rel {

int open_watched(int folder, const char* path, int flags, unsigned mode);
int close_watched(int fd);
// `position` is null for the file's current offset.
ssize_t read_watched(int fd, void* bytes, std::size_t size, const off_t* position);
ssize_t write_watched(int fd, const void* bytes, std::size_t size, const off_t* position);
ssize_t writev_watched(int fd, const iovec* parts, int count);
int sync_watched(int fd, long call);
// With fstatat()'s flags; an empty path with AT_EMPTY_PATH is the folder or file itself.
int stat_watched(int folder, const char* path, void* out, int flags);
int stat_watched(int folder, const char* path, int flags, unsigned mask, void* out);
// Whether reading the next entry of a listed folder must fail.
bool fails_to_list(int folder);
int control_watched(int fd, int command, long argument);
int lock_watched(int fd, int operation);
int truncate_watched(int fd, off_t size);
int rename_watched(int old_folder, const char* from, int new_folder, const char* to,
                   unsigned flags);
int remove_watched(int folder, const char* path, int flags);
int make_folder_watched(int folder, const char* path, mode_t mode);
int link_watched(int old_folder, const char* from, int new_folder, const char* to);
int symlink_watched(const char* target, int folder, const char* path);
// The arguments are the register values, whether used or not.
long syscall_watched(long number, const std::array<long, 6>& arguments);

}  // namespace reprise::rel
