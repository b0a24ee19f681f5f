#include "cli/output/spinner.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>

#include "base/file.h"
#include "cli/process/output.h"

namespace reprise::cli {
namespace {

TEST(Spinner, CountsSecondsAndTokens) {
  using std::chrono::milliseconds;
  EXPECT_EQ(spinner_text(milliseconds(0), 0), "⠋ answering 0 s");
  EXPECT_EQ(spinner_text(milliseconds(125), 1), "⠙ answering 0 s · ~1 token");
  EXPECT_EQ(spinner_text(milliseconds(61'250), 340), "⠋ answering 61 s · ~340 tokens");
}

// Reads from `fd` up to and including `text`.
std::string read_up_to(int fd, std::string_view text) {
  std::string out;
  pollfd watched{.fd = fd, .events = POLLIN, .revents = 0};
  while (out.find(text) == std::string::npos && ::poll(&watched, 1, 10'000) == 1) {
    std::array<char, 4096> chunk{};
    const ssize_t count = ::read(fd, chunk.data(), chunk.size());
    if (count <= 0) {
      break;
    }
    out.append(chunk.data(), static_cast<std::size_t>(count));
  }
  return out;
}

TEST(Spinner, RestoresTheTerminalLine) {
  const Fd master(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  ASSERT_EQ(::grantpt(master.get()), 0);
  ASSERT_EQ(::unlockpt(master.get()), 0);
  std::array<char, 100> name{};
  ASSERT_EQ(::ptsname_r(master.get(), name.data(), name.size()), 0);
  const Fd terminal(::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  Output err(terminal.get(), "standard error");
  Spinner spinner(err, true);
  spinner.add(400);
  spinner.show();
  EXPECT_NE(read_up_to(master.get(), "tokens").find("answering 0 s · ~100 tokens"),
            std::string::npos);
  spinner.hide();
  err.write("end");
  ASSERT_TRUE(err.flush());
  EXPECT_TRUE(read_up_to(master.get(), "end").ends_with("\r\x1b[Kend"));
  // Shown again.
  spinner.show();
  EXPECT_NE(read_up_to(master.get(), "tokens").find("~100 tokens"), std::string::npos);
}

TEST(Spinner, WritesNothingWithoutATerminal) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const Fd reading(ends[0]);
  const Fd writing(ends[1]);
  Output err(writing.get(), "standard error");
  Spinner spinner(err, true);
  spinner.show();
  pollfd watched{.fd = reading.get(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&watched, 1, 700), 0);
}

}  // namespace
}  // namespace reprise::cli
