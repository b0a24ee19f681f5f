#include "cli/process/progress.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>

#include "base/fd.h"

namespace reprise::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

TEST(ProgressLine, FitsTheColumns) {
  EXPECT_EQ(progress_line("verifying", 35, 100, 80),
            "verifying  [#######-------------]  35%  35 of 100");
  EXPECT_EQ(progress_line("verifying", 100, 100, 80),
            "verifying  [####################] 100%  100 of 100");
  EXPECT_EQ(progress_line("verifying", 200, 100, 20), "verifying  [#######");
  EXPECT_EQ(progress_line("reading", 12, 0, 80), "reading  12");
  EXPECT_EQ(progress_line("reading", 0, 0, 80), "reading …");
  EXPECT_EQ(progress_line("reading", 0, 0, 5), "");
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
    bar.show("copying", 1, 10);
    now_ += milliseconds(999);
    bar.show("copying", 2, 10);
    EXPECT_EQ(shown(), "");
    now_ += milliseconds(1);
    bar.show("copying", 3, 10);
    EXPECT_NE(shown().find("3 of 10"), std::string::npos);
    now_ += milliseconds(99);
    bar.show("copying", 4, 10);
    EXPECT_EQ(shown(), "");  // updates are throttled
    bar.clear();
    EXPECT_EQ(shown(), "\r\x1b[K");
    now_ += milliseconds(100);
    bar.show("copying", 5, 10);
    EXPECT_NE(shown().find("5 of 10"), std::string::npos);
    bar.show("verifying", 1, 10);  // other work
    EXPECT_EQ(shown(), "\r\x1b[K");
    now_ += milliseconds(1000);
    bar.show("verifying", 2, 10);
    EXPECT_NE(shown().find("2 of 10"), std::string::npos);
  }
  EXPECT_EQ(shown(), "\r\x1b[K");
}

TEST(ProgressBarElsewhere, ShowsNothing) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  const Fd reader(pipe[0]);
  const Fd writer(pipe[1]);
  (void)::fcntl(reader.get(), F_SETFL, O_NONBLOCK);
  Output err(writer.get(), "standard error");
  steady_clock::time_point now;
  ProgressBar bar(err, [&now] { return now; });
  bar.show("copying", 1, 10);
  now += milliseconds(5000);
  bar.show("copying", 2, 10);
  std::array<char, 1> byte{};
  EXPECT_EQ(::read(reader.get(), byte.data(), byte.size()), -1);
}

}  // namespace
}  // namespace reprise::cli
