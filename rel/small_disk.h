#pragma once

// Real file systems, small, for this process alone: nobody else sees them, and they go with it.
// They need root's rights.

#include <cstdint>
#include <filesystem>
#include <string>

namespace reprise::rel {

// mkfs.xfs makes none that is smaller.
inline constexpr std::uintmax_t kXfsBytesMin = std::uintmax_t{300} << 20;

// "" when this process can have them, or why not. To be asked first: mounts are its own from then
// on.
std::string can_mount();

class SmallDisk {
 public:
  struct Size {
    std::uintmax_t bytes = 0;
    int files = 0;  // at most so many; 0 as many as the file system thinks
  };
  // `type` is ext4, xfs or tmpfs. All is below `work`. Throws when it cannot be had.
  SmallDisk(std::string type, const std::filesystem::path& work, const Size& size);
  ~SmallDisk();
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  SmallDisk(SmallDisk&&) = delete;
  SmallDisk& operator=(SmallDisk&&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // From now on nothing reaches the disk, as when the power fails. Not for tmpfs.
  void cut_power() const;
  // As after a start: what has reached the disk is there. Nobody may have a file open.
  void mount_again() const;

 private:
  void mount() const;

  std::string type_;
  std::filesystem::path image_;
  std::filesystem::path path_;
  Size size_;
};

}  // namespace reprise::rel
