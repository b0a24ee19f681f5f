#include "base/reserve.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <functional>

#include "base/file.h"
#include "reprise/error.h"

namespace reprise {
namespace {

constexpr off_t kReserveBytes = off_t{256} * 1024;
constexpr off_t kBlockBytes = 512;  // the unit of st_blocks, see inode(7)

bool is_taken(const struct stat& status) {
  return status.st_blocks * kBlockBytes >= kReserveBytes;
}

// False when there was none.
bool give_up_reserve(const std::filesystem::path& file) {
  const auto fd = open_file(file, O_RDWR);
  struct stat status{};
  // Cutting a file where it ends frees what lies beyond.
  return fd && ::fstat(fd->get(), &status) == 0 && is_taken(status) &&
         ::ftruncate(fd->get(), status.st_size) == 0;
}

}  // namespace

void keep_reserve(const std::filesystem::path& file) {
  const auto fd = open_file(file, O_RDWR);
  struct stat status{};
  if (fd && ::fstat(fd->get(), &status) == 0 && !is_taken(status)) {
    ::fallocate(fd->get(), FALLOC_FL_KEEP_SIZE, 0, kReserveBytes);
  }
}

Result<> with_reserve(const std::filesystem::path& file, const std::function<Result<>()>& work) {
  auto done = work();
  const int why = done ? 0 : done.error().os_errno;
  const bool is_full = why == ENOSPC || why == EDQUOT;  // NOLINT(misc-include-cleaner): <cerrno>
  return is_full && give_up_reserve(file) ? work() : done;
}

}  // namespace reprise
