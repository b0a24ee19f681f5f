// No function that takes a path follows a link in it, in any component, on kernels with and without
// openat2.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "base/file.h"
#include "base/lock_file.h"
#include "base/reserve.h"
#include "base/testing/temporary_folder.h"
#include "base/text.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSecret = "somebody's words";

// An operation on a path. True if it was refused because of the link.
struct PathOperation {
  const char* name;
  std::function<bool(const fs::path& path)> is_refused;
};

template <class Value>
bool refused_link(const Result<Value>& result) {
  return !result && result.error().os_errno == ELOOP &&
         result.error().message.contains("a symbolic link, which is not followed");
}

// With the name of a file that is a link, or is reached through one.
const PathOperation kFileOperations[] = {
    {"read", [](const fs::path& path) { return refused_link(read_file(path)); }},
    {"open", [](const fs::path& path) { return refused_link(open_file(path, O_WRONLY)); }},
    {"empty",
     [](const fs::path& path) { return refused_link(open_file(path, O_WRONLY | O_TRUNC)); }},
    {"create",
     [](const fs::path& path) { return refused_link(open_file(path, O_RDWR | O_CREAT)); }},
    {"append",
     [](const fs::path& path) {
       return refused_link(open_file(path, O_WRONLY | O_CREAT | O_APPEND));
     }},
    {"replace", [](const fs::path& path) { return refused_link(replace_file(path, "ours")); }},
    {"lock", [](const fs::path& path) { return refused_link(LockFile::open(path)); }},
    {"look at the lock",
     [](const fs::path& path) { return refused_link(LockFile::is_held(path)); }},
    {"reserve",
     [](const fs::path& path) {
       allocate_reserve(path);
       return true;
     }},
    {"look", [](const fs::path& path) { return refused_link(refuse_links(path)); }},
};

// With a name in a folder that is a link.
const PathOperation kFolderOperations[] = {
    {"remove", [](const fs::path& path) { return refused_link(remove_file(path)); }},
    {"remove if there", [](const fs::path& path) { return refused_link(remove_if_exists(path)); }},
    {"remove the tree", [](const fs::path& path) { return refused_link(remove_tree(path)); }},
    {"make folders",
     [](const fs::path& path) { return refused_link(make_private_folders(path / "x")); }},
    {"sync", [](const fs::path& path) { return refused_link(sync_folder(path.parent_path())); }},
    {"move away",
     [](const fs::path& path) {
       return refused_link(move_file(path, path.parent_path().parent_path() / "moved"));
     }},
    {"move there",
     [](const fs::path& path) {
       return refused_link(
           move_file(path.parent_path().parent_path() / "own", path.parent_path() / "x"));
     }},
};

// The first operation that was not refused, or changed something; "" if there is none.
std::string first_followed(const fs::path& folder) {
  const fs::path outside = folder / "outside";
  const auto is_unchanged = [&] {
    return *read_file(outside / "secret") == kSecret && !fs::exists(outside / "new") &&
           !fs::exists(outside / "x") && fs::file_size(outside / "secret") == 16;
  };
  const auto try_all = [&](const auto& operations, const fs::path& path) -> std::string {
    for (const PathOperation& operation : operations) {
      if (!operation.is_refused(path) || !is_unchanged()) {
        return cat(operation.name, " ", path.native());
      }
    }
    return "";
  };
  for (const char* const name : {"link", "dangling", "through/secret", "through/new"}) {
    if (std::string followed = try_all(kFileOperations, folder / "in" / name); !followed.empty()) {
      return followed;
    }
  }
  return try_all(kFolderOperations, folder / "in" / "through" / "secret");
}

class FileLinks : public testing::Test {
 protected:
  FileLinks() {
    fs::create_directories(folder_ / "in");
    fs::create_directories(folder_ / "outside");
    EXPECT_TRUE(replace_file(folder_ / "outside" / "secret", kSecret));
    EXPECT_TRUE(replace_file(folder_ / "in" / "own", "ours"));
    fs::create_symlink("../outside/secret", folder_ / "in" / "link");
    fs::create_symlink(folder_ / "outside" / "new", folder_ / "in" / "dangling");
    fs::create_symlink("../outside", folder_ / "in" / "through");
  }

  const test::TemporaryFolder temporary_;
  fs::path folder_ = temporary_.path();
};

TEST_F(FileLinks, AreNotFollowed) {
  EXPECT_EQ(first_followed(folder_), "");
}

// Like kernels before 5.6, or sandboxes that do not allow the call.
bool refuse_openat2(int os_errno) {
  std::array<sock_filter, 4> rules = {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(os_errno)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  sock_fprog program{.len = rules.size(), .filter = rules.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 &&
         ::syscall(SYS_openat2, AT_FDCWD, ".", nullptr, 0) == -1 && errno == os_errno;
}

// Returns 0 when links are refused and everything else works.
int check_without_openat2(const fs::path& folder, int os_errno) {
  if (!refuse_openat2(os_errno)) {
    return 2;
  }
  if (const std::string followed = first_followed(folder); !followed.empty()) {
    return 3;
  }
  const fs::path file = folder / "in" / "new" / "file";
  const bool works = make_private_folders(file.parent_path()) && replace_file(file, "one") &&
                     replace_file(file, "two") && *read_file(file) == "two" &&
                     LockFile::open(file) && remove_file(file) &&
                     read_file(file).error().code == Code::not_found &&
                     read_file(folder / "in" / "own" / "x").error().os_errno == ENOTDIR;
  return works ? 0 : 4;
}

TEST_F(FileLinks, AreNotFollowedWithoutOpenat2Either) {
  for (const int os_errno : {ENOSYS, EPERM}) {
    EXPECT_EXIT(::_exit(check_without_openat2(folder_, os_errno)), testing::ExitedWithCode(0), "");
  }
}

// Only root can create a file of another user.
TEST_F(FileLinks, FilesOfOtherUsersAreNotWritten) {
  const fs::path file = folder_ / "in" / "own";
  if (::geteuid() != 0) {
    GTEST_SKIP() << "needs root";
  }
  constexpr uid_t kNobody = 65534;
  ASSERT_EQ(::chown(file.c_str(), kNobody, kNobody), 0);
  EXPECT_TRUE(read_file(file)) << "root reads everybody's";
  EXPECT_EQ(open_file(file, O_WRONLY | O_TRUNC).error().os_errno, EACCES);
  EXPECT_EQ(LockFile::open(file).error().os_errno, EACCES);
  EXPECT_EQ(replace_file(file, "mine").error().os_errno, EACCES);
  EXPECT_EQ(*read_file(file), "ours");
  ASSERT_EQ(::chown(file.parent_path().c_str(), kNobody, kNobody), 0);
  EXPECT_TRUE(replace_file(file, "mine"))
      << "the folder is theirs, too: a file system that says so";
}

// In a separate process: what a user other than root may read of a third user's file. Returns the
// number of the first failed check.
int read_as_other_user(const fs::path& file) {
  constexpr uid_t kSomebody = 12'345;
  if (::seteuid(kSomebody) != 0) {
    return 1;
  }
  const auto read = read_file(file);
  if (read || read.error().os_errno != EACCES ||
      !read.error().message.ends_with("it belongs to another user")) {
    return 2;
  }
  return read_named_file(file, 100) ? 0 : 3;
}

TEST_F(FileLinks, FilesOfOtherUsersAreReadOnlyIfNamed) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "needs root";
  }
  const fs::path file = folder_ / "in" / "own";
  for (const fs::path& open : {folder_, folder_ / "in", file}) {
    fs::permissions(open, fs::perms(0755));
  }
  constexpr uid_t kNobody = 65534;
  ASSERT_EQ(::chown(file.c_str(), kNobody, kNobody), 0);
  EXPECT_EXIT(::_exit(read_as_other_user(file)), testing::ExitedWithCode(0), "");
  ASSERT_EQ(::chown(file.parent_path().c_str(), kNobody, kNobody), 0);
  EXPECT_EXIT(::_exit(read_as_other_user(file)), testing::ExitedWithCode(2), "")
      << "who may write there has put it there";
  ASSERT_EQ(::chown(file.c_str(), 0, 0), 0);
  EXPECT_EXIT(::_exit(read_as_other_user(file)), testing::ExitedWithCode(2), "")
      << "the system's own";
}

}  // namespace
}  // namespace reprise
