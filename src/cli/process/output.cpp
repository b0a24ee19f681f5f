#include "cli/process/output.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"

namespace reprise::cli {
namespace {

constexpr std::size_t kBufferBytes = 32 << 10;
constexpr int kColumnsDefault = 80;

}  // namespace

Output::Output(int fd, std::string_view name)
    : fd_(fd), name_(name), terminal_(::isatty(fd) == 1) {}

Output::~Output() {
  // A fallback; callers that need the result have called flush().
  (void)flush();
}

void Output::write(std::string_view bytes) {
  if (failed_) {
    return;
  }
  buffer_ += bytes;
  if (buffer_.size() >= kBufferBytes) {
    // Recorded in failed_ and reported by the last flush().
    (void)flush();
  }
}

Result<> Output::flush() {
  if (!failed_ && !buffer_.empty()) {
    if (const auto written = write_all(redirected_ < 0 ? fd_ : redirected_, buffer_, name_);
        !written) {
      failed_ = true;
      failure_ = written.error();
      is_pipe_broken_ = failure_.os_errno == EPIPE;
    }
    buffer_.clear();
  }
  if (failed_) {
    return std::unexpected(failure_);
  }
  return {};
}

void Output::restore() {
  redirected_ = -1;
  if (is_pipe_broken_) {
    is_pipe_broken_ = false;
    failed_ = false;
    failure_ = {};
  }
}

int Output::columns() const {
  winsize size{};
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): how the size of a terminal is asked for.
  if (!terminal_ || ::ioctl(fd_, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
    return kColumnsDefault;
  }
  return size.ws_col;
}

}  // namespace reprise::cli
