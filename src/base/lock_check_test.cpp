#include "base/lock_check.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <unistd.h>

#include <cerrno>
#include <initializer_list>

#include "base/file.h"
#include "base/testing/temporary_folder.h"

namespace reprise {
namespace {

TEST(LockCheck, ExaminesOnlyFileSystemsThatMayHaveNoLocks) {
  for (const long type :
       std::initializer_list<long>{EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC,
                                   TMPFS_MAGIC, OVERLAYFS_SUPER_MAGIC}) {
    EXPECT_TRUE(is_local_file_system(type)) << type;
  }
  for (const long type : std::initializer_list<long>{NFS_SUPER_MAGIC, SMB_SUPER_MAGIC, V9FS_MAGIC,
                                                     FUSE_SUPER_MAGIC, CEPH_SUPER_MAGIC, 0}) {
    EXPECT_FALSE(is_local_file_system(type)) << type;
  }
}

TEST(LockCheck, KnowsMountsWhoseLocksAreNotSent) {
  constexpr std::string_view kMounts =
      "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,errors=remount-ro\n"
      "40 22 0:50 / /a rw,relatime shared:20 - nfs h:/a rw,vers=3,nolock,local_lock=all,addr=::1\n"
      "41 22 0:51 / /b rw,relatime shared:21 - nfs4 h:/b rw,vers=4.2,local_lock=none,addr=::1\n"
      "42 22 0:52 / /c rw - nfs h:/c rw,vers=3,local_lock=flock,addr=::1\n"
      "43 22 0:53 / /d rw - nfs h:/d rw,vers=3,local_lock=posix,addr=::1\n"
      "44 22 0:54 / /e rw - cifs //h/e rw,nobrl,vers=3.0";
  EXPECT_EQ(local_lock_option(kMounts, "8:1"), "");
  EXPECT_EQ(local_lock_option(kMounts, "0:50"), "nolock");
  EXPECT_EQ(local_lock_option(kMounts, "0:51"), "");
  EXPECT_EQ(local_lock_option(kMounts, "0:52"), "");
  EXPECT_EQ(local_lock_option(kMounts, "0:53"), "local_lock=posix");
  EXPECT_EQ(local_lock_option(kMounts, "0:54"), "nobrl");
  EXPECT_EQ(local_lock_option(kMounts, "0:5"), "");
}

// Descriptors of one open file have the same locks, as all have where locking does nothing.
TEST(LockCheck, NoticesLocksThatExcludeNobody) {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "lock";
  const Fd first = open_file(file, O_RDWR | O_CREAT).value();
  const Fd other = open_file(file, O_RDWR).value();
  const Fd same(::dup(first.get()));
  EXPECT_TRUE(get_the_same_lock(first.get(), same.get(), 2));
  EXPECT_FALSE(get_the_same_lock(first.get(), other.get(), 2));
  EXPECT_FALSE(get_the_same_lock(other.get(), first.get(), 2)) << "it is still locked";
}

TEST(LockCheck, NamesTheFileSystem) {
  const Error error = no_locks_error("/net/reprise.db-lock", "it is mounted with nolock");
  EXPECT_EQ(error.os_errno, ENOLCK);
  EXPECT_NE(error.message.find("file system"), std::string::npos) << error.message;
  EXPECT_NE(error.message.find("nolock"), std::string::npos) << error.message;
}

}  // namespace
}  // namespace reprise
