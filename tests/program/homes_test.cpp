// Root with the home folder of another user, as with `sudo` where it keeps HOME.

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "program/program_fixture.h"

namespace reprise::test {
namespace {

namespace fs = std::filesystem;

std::size_t count_below(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::recursive_directory_iterator(folder), fs::recursive_directory_iterator()));
}

TEST_F(ProgramTest, RootCreatesNothingInTheHomeOfAnotherUser) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "needs root";
  }
  constexpr uid_t kNobody = 65534;
  ASSERT_EQ(::chown(home().c_str(), kNobody, kNobody), 0);
  const std::size_t before = count_below(home());
  for (const std::vector<std::string>& words : {std::vector<std::string>{"ask", "hello"},
                                                {"list"},
                                                {"import", "-y"},
                                                {"resume", "--plain"},
                                                {"config", "init"},
                                                {"config", "set", "provider", "echo"},
                                                {"config", "trust"}}) {
    const Done done = run(words);
    EXPECT_EQ(done.code, 1) << words.front();
    EXPECT_EQ(std::ranges::count(done.err, '\n'), 1) << done.err;
    EXPECT_TRUE(done.err.contains("`sudo -u ")) << done.err;
    EXPECT_TRUE(done.err.contains("`sudo -H reprise`")) << done.err;
    EXPECT_EQ(count_below(home()), before) << words.front();
  }
  EXPECT_EQ(run({"--help"}).code, 0);
  ASSERT_EQ(::chown(home().c_str(), 0, 0), 0);
  EXPECT_EQ(run({"ask", "hello"}).code, 0) << "its own";
}

// The files would be there, whoever owns HOME.
TEST_F(ProgramTest, RootMayKeepItsFilesElsewhere) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "needs root";
  }
  constexpr uid_t kNobody = 65534;
  const fs::path own = project() / "own";
  ASSERT_TRUE(fs::create_directory(own));
  ASSERT_EQ(::chown(home().c_str(), kNobody, kNobody), 0);
  set("XDG_DATA_HOME", own);
  set("XDG_CONFIG_HOME", own);
  EXPECT_EQ(run({"ask", "hello"}).code, 1) << "one is missing";
  set("XDG_STATE_HOME", own);
  const Done done = run({"ask", "hello"});
  EXPECT_EQ(done.code, 0) << done.err;
}

}  // namespace
}  // namespace reprise::test
