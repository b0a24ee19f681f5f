#include "support/small_disk.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/file.h"
#include "support/must.h"

namespace reprise::test {

SmallDisk::SmallDisk(const std::filesystem::path& folder, const char* size) : folder_(folder) {
  mounted_ = ::mount("none", folder.c_str(), "tmpfs", 0, size) == 0;
}

SmallDisk::~SmallDisk() {
  if (mounted_) {
    ::umount2(folder_.c_str(), MNT_DETACH);
  }
}

bool SmallDisk::make_read_only() const {
  return ::mount("none", folder_.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr) == 0;
}

bool SmallDisk::make_writable() const {
  return ::mount("none", folder_.c_str(), "tmpfs", MS_REMOUNT, nullptr) == 0;
}

void SmallDisk::fill() const {
  const Fd fd = must(open_file(folder_ / "filler", O_WRONLY | O_CREAT | O_APPEND));
  const std::string block(4096, 'x');
  while (::write(fd.get(), block.data(), block.size()) > 0) {
  }
}

void SmallDisk::fill_with_files() const {
  for (int i = 0; open_file(folder_ / ("filler" + std::to_string(i)), O_WRONLY | O_CREAT); ++i) {
  }
}

}  // namespace reprise::test
