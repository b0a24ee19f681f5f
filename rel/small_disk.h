#pragma once

// Small real file systems, visible only to this process and removed with it. They need root.

#include <cstdint>
#include <filesystem>
#include <string>

namespace reprise::rel {

// The minimum of mkfs.xfs.
inline constexpr std::uintmax_t kXfsBytesMin = std::uintmax_t{300} << 20;

// "" if this process can mount, otherwise the reason. Must be called first: it makes mounts
// private.
std::string can_mount();

// Fills the disk with the file `filler` in this folder.
void fill_bytes(const std::filesystem::path& folder);

class SmallDisk {
 public:
  struct Size {
    std::uintmax_t bytes = 0;
    int files = 0;  // the maximum number of inodes; 0 for the default
  };
  // `type` is ext4, xfs or tmpfs. Everything is below `work`. Throws on failure.
  SmallDisk(std::string type, const std::filesystem::path& work, const Size& size);
  ~SmallDisk();
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  SmallDisk(SmallDisk&&) = delete;
  SmallDisk& operator=(SmallDisk&&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // From now on, nothing reaches the disk, like after a power failure. Not for tmpfs.
  void cut_power() const;
  // Mounts the disk like after a restart: with what has reached the disk. No file may be open.
  void mount_again() const;

 private:
  void mount() const;

  std::string type_;
  std::filesystem::path image_;
  std::filesystem::path path_;
  Size size_;
};

}  // namespace reprise::rel
