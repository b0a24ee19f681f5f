#pragma once

// A disk that can be full or read-only.

#include <filesystem>

namespace reprise::test {

// A small file system, unmounted by the destructor. Mounting needs root: check is_mounted().
class SmallDisk {
 public:
  // `size` are mount options of tmpfs: "size=2m,nr_inodes=40".
  explicit SmallDisk(const std::filesystem::path& folder, const char* size = "size=2m");
  ~SmallDisk();
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  SmallDisk(SmallDisk&&) = delete;
  SmallDisk& operator=(SmallDisk&&) = delete;

  bool is_mounted() const { return mounted_; }
  bool make_read_only() const;
  bool make_writable() const;
  // Uses up all free bytes.
  void fill() const;
  // Uses up all free inodes.
  void fill_with_files() const;

 private:
  std::filesystem::path folder_;
  bool mounted_ = false;
};

}  // namespace reprise::test
