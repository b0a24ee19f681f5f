#include "cli/process/progress.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>

#include "base/file.h"
#include "cli/process/process.h"
#include "reprise/source.h"

namespace reprise::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

TEST(ProgressLine, FitsTheColumns) {
  EXPECT_EQ(progress_line({"verifying", 35, 100}, 80),
            "verifying  [#######-------------]  35%  35 of 100");
  EXPECT_EQ(progress_line({"verifying", 100, 100}, 80),
            "verifying  [####################] 100%  100 of 100");
  EXPECT_EQ(progress_line({"verifying", 200, 100}, 20), "verifying  [#######");
  EXPECT_EQ(progress_line({"reading", 12, 0}, 80), "reading  12");
  EXPECT_EQ(progress_line({"reading", 0, 0}, 80), "reading …");
  EXPECT_EQ(progress_line({"reading", 0, 0}, 5), "");
}

class ProgressBarTest : public testing::Test {
 protected:
  ProgressBarTest() {
    terminal_ = Fd(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
    EXPECT_EQ(::grantpt(terminal_.get()), 0);
    EXPECT_EQ(::unlockpt(terminal_.get()), 0);
    std::array<char, 100> name{};
    EXPECT_EQ(::ptsname_r(terminal_.get(), name.data(), name.size()), 0);
    program_ = Fd(::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  }

  std::string shown() const {
    std::array<char, 4096> bytes{};
    const ssize_t count = ::read(terminal_.get(), bytes.data(), bytes.size());
    return count > 0 ? std::string(bytes.data(), static_cast<std::size_t>(count)) : "";
  }

  Fd terminal_;
  Fd program_;
  steady_clock::time_point now_;
};

TEST_F(ProgressBarTest, AppearsAfterASecondAndIsCleared) {
  Output err(program_.get(), "standard error");
  {
    ProgressBar bar(err, [this] { return now_; });
    bar.show({"copying", 1, 10});
    now_ += milliseconds(999);
    bar.show({"copying", 2, 10});
    EXPECT_EQ(shown(), "");
    now_ += milliseconds(1);
    bar.show({"copying", 3, 10});
    EXPECT_NE(shown().find("3 of 10"), std::string::npos);
    now_ += milliseconds(99);
    bar.show({"copying", 4, 10});
    EXPECT_EQ(shown(), "");  // updates are throttled
    bar.clear();
    EXPECT_EQ(shown(), "\r\x1b[K");
    now_ += milliseconds(100);
    bar.show({"copying", 5, 10});
    EXPECT_NE(shown().find("5 of 10"), std::string::npos);
    bar.show({"verifying", 1, 10});  // other work
    EXPECT_EQ(shown(), "\r\x1b[K");
    now_ += milliseconds(1000);
    bar.show({"verifying", 2, 10});
    EXPECT_NE(shown().find("2 of 10"), std::string::npos);
  }
  EXPECT_EQ(shown(), "\r\x1b[K");
}

TEST(ProgressBarWithoutTerminal, ShowsNothing) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  const Fd reader(pipe[0]);
  const Fd writer(pipe[1]);
  (void)::fcntl(reader.get(), F_SETFL, O_NONBLOCK);
  Output err(writer.get(), "standard error");
  steady_clock::time_point now;
  ProgressBar bar(err, [&now] { return now; });
  bar.show({"copying", 1, 10});
  now += milliseconds(5000);
  bar.show({"copying", 2, 10});
  std::array<char, 1> byte{};
  EXPECT_EQ(::read(reader.get(), byte.data(), byte.size()), -1);
}

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
  while (!out.contains(text) && ::poll(&watched, 1, 10'000) == 1) {
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
