#include "base/reserve.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <functional>

#include "base/file.h"

namespace reprise {
namespace {

constexpr off_t kBlockBytes = 512;  // the unit of st_blocks, see inode(7)

bool is_taken(const struct stat& status, std::int64_t bytes) {
  return status.st_blocks * kBlockBytes >= bytes;
}

// False if there was none.
bool release_reserve(const std::filesystem::path& file) {
  const auto fd = open_file(file, O_RDWR);
  struct stat status{};
  if (!fd || ::fstat(fd->get(), &status) != 0 || !is_taken(status, kReserveBytes) ||
      ::ftruncate(fd->get(), status.st_size) != 0) {  // frees the blocks beyond the end
    return false;
  }
  ::fsync(fd->get());  // ext4 makes freed blocks available only after a commit
  return true;
}

}  // namespace

bool is_disk_full(const Error& error) {
  return error.os_errno == ENOSPC ||
         error.os_errno == EDQUOT;  // NOLINT(misc-include-cleaner): <cerrno>
}

void allocate_reserve(const std::filesystem::path& file, std::int64_t bytes) {
  const auto fd = open_file(file, O_RDWR);
  struct stat status{};
  if (fd && ::fstat(fd->get(), &status) == 0 && !is_taken(status, bytes)) {
    ::fallocate(fd->get(), FALLOC_FL_KEEP_SIZE, 0, bytes);
  }
}

Result<> with_reserve(const std::filesystem::path& file, const std::function<Result<>()>& work,
                      const std::function<Result<>()>& in_steps) {
  auto done = work();
  if (!done && is_disk_full(done.error()) && release_reserve(file)) {
    done = work();
  }
  return !done && is_disk_full(done.error()) && in_steps ? in_steps() : done;
}

}  // namespace reprise
