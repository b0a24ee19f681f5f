// Databases on file systems that lack shared memory or locks, as some network file systems do:
// simulated by system calls that fail in a child process.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <span>

#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "sqlite/sqlite_support.h"
#include "support/build.h"
#include "support/child.h"
#include "support/must.h"

namespace reprise::test {
namespace {

constexpr unsigned kLoad = BPF_LD | BPF_W | BPF_ABS;
constexpr unsigned kEqual = BPF_JMP | BPF_JEQ | BPF_K;
constexpr unsigned kReturn = BPF_RET | BPF_K;
constexpr std::uint32_t kNumber = offsetof(seccomp_data, nr);
constexpr std::uint32_t low_half(std::uint32_t argument) {
  return static_cast<std::uint32_t>(offsetof(seccomp_data, args)) + 8 * argument;
}
constexpr std::uint32_t fail_with(int error) {
  return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error);
}

bool filter_calls(std::span<sock_filter> rules) {
  const sock_fprog program{static_cast<unsigned short>(rules.size()), rules.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

bool refuse_shared_maps() {
  std::array rules = {sock_filter BPF_STMT(kLoad, kNumber),
                      sock_filter BPF_JUMP(kEqual, SYS_mmap, 0, 5),
                      sock_filter BPF_STMT(kLoad, low_half(4)),  // the file
                      sock_filter BPF_JUMP(kEqual, 0xFFFFFFFF, 3, 0),
                      sock_filter BPF_STMT(kLoad, low_half(3)),  // the flags
                      sock_filter BPF_JUMP(kEqual, MAP_SHARED, 0, 1),
                      sock_filter BPF_STMT(kReturn, fail_with(ENODEV)),
                      sock_filter BPF_STMT(kReturn, SECCOMP_RET_ALLOW)};
  return filter_calls(rules);
}

bool refuse_locks() {
  std::array rules = {sock_filter BPF_STMT(kLoad, kNumber),
                      sock_filter BPF_JUMP(kEqual, SYS_fcntl, 0, 4),
                      sock_filter BPF_STMT(kLoad, low_half(1)),  // the command
                      sock_filter BPF_JUMP(kEqual, F_SETLK, 1, 0),
                      sock_filter BPF_JUMP(kEqual, F_OFD_SETLK, 0, 1),
                      sock_filter BPF_STMT(kReturn, fail_with(ENOLCK)),
                      sock_filter BPF_STMT(kReturn, SECCOMP_RET_ALLOW)};
  return filter_calls(rules);
}

class FileSystemTest : public testing::Test {
 protected:
  void create(std::string_view text) const {
    const auto store = open_at(file_);
    must(store->create(session("s")));
    must(store->append(id_, {user(std::string(text))}, {}));
  }
  std::size_t count() const { return must(read_all(*open_at(file_), id_)).size(); }

  const TemporaryFolder folder_;
  const std::filesystem::path file_ = folder_.path() / "r.db";
  const SessionId id_ = session_id("s");
};

TEST_F(FileSystemTest, WithoutSharedMemoryANewDatabaseHasNoLog) {
  const pid_t child = in_child([&] {
    if (!refuse_shared_maps()) {
      return 2;
    }
    create("one");
    must(open_at(file_)->append(id_, {user("two")}, {}));
    return count() == 2 ? 0 : 3;
  });
  EXPECT_EQ(exit_code_of(child), 0);
  EXPECT_EQ(count(), 2U);
}

TEST_F(FileSystemTest, WithoutSharedMemoryADatabaseLeavesItsLog) {
  create("one");
  const pid_t child = in_child([&] {
    if (!refuse_shared_maps()) {
      return 2;
    }
    if (count() != 1) {
      return 3;
    }
    const auto store = open_at(file_);
    must(store->append(id_, {user("two")}, {}));
    must(store->append(id_, {user("three")}, {}));
    return count() == 3 ? 0 : 4;
  });
  EXPECT_EQ(exit_code_of(child), 0);
  EXPECT_EQ(count(), 3U);
}

TEST_F(FileSystemTest, WithoutLocksNothingIsWrittenAndItIsSaid) {
  create("one");
  const pid_t child = in_child([&] {
    if (!refuse_locks()) {
      return 2;
    }
    const auto store = open_at(file_);
    const auto refused = store->append(id_, {user("two")}, {});
    if (refused || refused.error().code != Code::io || refused.error().os_errno != ENOLCK ||
        !refused.error().message.contains("file system")) {
      return 3;
    }
    return must(read_all(*store, id_)).size() == 1 ? 0 : 4;
  });
  EXPECT_EQ(exit_code_of(child), 0);
}

}  // namespace
}  // namespace reprise::test
