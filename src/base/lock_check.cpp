#include "base/lock_check.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>

#include "base/file.h"
#include "base/text.h"

namespace reprise {
namespace {

// Of file systems on local disks and in memory; those missing in old headers as numbers.
constexpr std::array<long, 19> kLocal = {
    EXT4_SUPER_MAGIC,  // and ext2, ext3
    XFS_SUPER_MAGIC,      BTRFS_SUPER_MAGIC,     TMPFS_MAGIC,
    RAMFS_MAGIC,          OVERLAYFS_SUPER_MAGIC, F2FS_SUPER_MAGIC,
    MSDOS_SUPER_MAGIC,    REISERFS_SUPER_MAGIC,  NILFS_SUPER_MAGIC,
    ECRYPTFS_SUPER_MAGIC, SQUASHFS_MAGIC,        EROFS_SUPER_MAGIC_V1,
    HUGETLBFS_MAGIC,
    0x2FC12FC1,  // ZFS
    0x2011BAB0,  // exFAT
    0x7366746E,  // NTFS
    0x3153464A,  // JFS
    0xCA451A4E,  // bcachefs
};

std::string_view take_word(std::string_view& text, char end) {
  const std::size_t size = std::min(text.find(end), text.size());
  const std::string_view word = text.substr(0, size);
  text.remove_prefix(std::min(size + 1, text.size()));
  return word;
}

// Of NFS and SMB. "local_lock=flock" concerns only locks of another kind.
bool is_local_lock(std::string_view option) {
  return option == "nolock" || option == "nobrl" || option == "local_lock=all" ||
         option == "local_lock=posix";
}

bool set_lock(int fd, int byte, short type) {
  struct flock range{};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = byte;
  range.l_len = 1;
  return ::fcntl(fd, F_OFD_SETLK, &range) == 0;
}

}  // namespace

bool is_local_file_system(long type) {
  return std::ranges::find(kLocal, type & 0xFFFFFFFFL) != kLocal.end();
}

bool get_the_same_lock(int first, int other, int byte) {
  if (!set_lock(first, byte, F_WRLCK)) {
    return false;  // another process is just doing the same: locks work
  }
  const bool both = set_lock(other, byte, F_WRLCK);
  set_lock(first, byte, F_UNLCK);
  set_lock(other, byte, F_UNLCK);
  return both;
}

std::string local_lock_option(std::string_view mounts, std::string_view device) {
  while (!mounts.empty()) {
    std::string_view line = take_word(mounts, '\n');
    take_word(line, ' ');  // the mount's number
    take_word(line, ' ');  // and its parent's
    if (take_word(line, ' ') != device) {
      continue;
    }
    while (!line.empty()) {
      std::string_view options = take_word(line, ' ');
      while (!options.empty()) {
        if (const std::string_view option = take_word(options, ','); is_local_lock(option)) {
          return std::string(option);
        }
      }
    }
  }
  return "";
}

Error no_locks_error(const std::filesystem::path& path, std::string_view reason) {
  return {Code::io,
          cat("cannot lock ", without_temporary_names(path).string(),
              ": locks do not work on this file system (", reason,
              "), so two programs could write at the same time; mount it with locks, or use a"
              " local folder"),
          ENOLCK};
}

Result<> check_locks(int fd, const std::filesystem::path& path, int byte) {
  struct statfs status{};
  if (::fstatfs(fd, &status) != 0 || is_local_file_system(static_cast<long>(status.f_type))) {
    return {};
  }
  REPRISE_ASSIGN(const struct stat file, status_of(fd, path));
  const std::string mounts =
      read_file(cat("/proc/", ::getpid(), "/mountinfo")).value_or(std::string());
  const std::string option =
      local_lock_option(mounts, cat(::major(file.st_dev), ":", ::minor(file.st_dev)));
  if (!option.empty()) {
    return std::unexpected(no_locks_error(path, cat("it is mounted with ", option)));
  }
  REPRISE_ASSIGN(const Fd other, open_file(path, O_RDWR));
  if (get_the_same_lock(fd, other.get(), byte)) {
    return std::unexpected(no_locks_error(path, "two programs get the same lock"));
  }
  return {};
}

}  // namespace reprise
