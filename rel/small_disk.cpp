#include "small_disk.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <stdexcept>

#include "base/file.h"
#include "base/text.h"
#include "trial.h"

namespace reprise::rel {
namespace {

// ext4 uses the same number as XFS: EXT4_IOC_SHUTDOWN, XFS_IOC_GOINGDOWN.
constexpr unsigned long kShutdown =
    _IOR('X', 125, std::uint32_t);  // NOLINT(misc-include-cleaner): <sys/ioctl.h>
constexpr std::uint32_t kWithoutFlushingTheLog = 2;

void run(const std::string& command) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread.
  if (std::system(cat(command, " >/dev/null 2>&1").c_str()) != 0) {
    throw std::runtime_error(cat(command, " failed"));
  }
}

}  // namespace

std::string can_mount() {
  if (::unshare(CLONE_NEWNS) != 0 ||
      ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    return os_error("mount anything at", "/", errno).message;
  }
  try {
    for (const char* type : {"tmpfs", "ext4", "xfs"}) {
      const WorkFolder work;
      const SmallDisk disk(type, work.path(), {.bytes = kXfsBytesMin});
    }
  } catch (const std::exception& error) {
    return cat("this machine cannot: ", error.what());
  }
  return "";
}

void fill_bytes(const std::filesystem::path& folder) {
  const Fd file(::open((folder / "filler").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (file.get() < 0) {
    throw std::runtime_error("nothing to fill the disk with");
  }
  const std::string zeros(65536, '\0');
  for (std::size_t size = zeros.size(); size > 0; size /= 2) {
    while (::write(file.get(), zeros.data(), size) > 0) {
    }
  }
  ::fsync(file.get());
}

SmallDisk::SmallDisk(std::string type, const std::filesystem::path& work, const Size& size)
    : type_(std::move(type)), image_(work / "image"), path_(work / "disk"), size_(size) {
  std::filesystem::create_directories(path_);
  if (type_ != "tmpfs") {
    std::ofstream(image_).close();
    std::filesystem::resize_file(image_, size.bytes);
    const std::string files = size.files > 0 ? cat(" -N ", size.files) : "";
    // Blocks smaller than memory pages, as on small disks.
    const std::string blocks = type_ == "ext4" ? " -b 1024" : "";
    run(cat("mkfs.", type_, " -q", blocks, files, " ", image_.string()));
  }
  mount();
}

SmallDisk::~SmallDisk() {
  ::umount2(path_.c_str(), MNT_DETACH);
}

void SmallDisk::cut_power() const {
  const Fd folder(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  std::uint32_t how = kWithoutFlushingTheLog;
  if (folder.get() < 0 || ::ioctl(folder.get(), kShutdown, &how) != 0) {
    throw std::runtime_error(os_error("cut the power of", path_, errno).message);
  }
}

void SmallDisk::mount_again() const {
  if (::umount(path_.c_str()) != 0) {
    throw std::runtime_error(os_error("unmount", path_, errno).message);
  }
  mount();
}

void SmallDisk::mount() const {
  if (type_ != "tmpfs") {
    run(cat("mount -t ", type_, " -o loop ", image_.string(), " ", path_.string()));
    return;
  }
  const std::string files = size_.files > 0 ? cat(",nr_inodes=", size_.files) : "";
  if (::mount("none", path_.c_str(), "tmpfs", 0, cat("size=", size_.bytes, files).c_str()) != 0) {
    throw std::runtime_error(os_error("mount", path_, errno).message);
  }
}

}  // namespace reprise::rel
