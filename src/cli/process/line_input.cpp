#include "cli/process/line_input.h"

#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/file.h"

namespace reprise::cli {

namespace {

constexpr std::size_t kReadBytes = 64 << 10;

}  // namespace

// A whole line of the buffer.
std::optional<InputLine> LineInput::take_line() {
  const std::size_t end = buffer_.find('\n', searched_);
  searched_ = end == std::string::npos ? buffer_.size() : 0;
  if (end == std::string::npos) {
    if (is_skipping_ || buffer_.size() > bytes_max_) {
      is_skipping_ = true;
      buffer_ = std::string();
      searched_ = 0;
    }
    return std::nullopt;
  }
  InputLine line{.number = ++lines_};
  line.is_too_long = std::exchange(is_skipping_, false) || end > bytes_max_;
  if (!line.is_too_long) {
    line.text = buffer_.substr(0, end);
  }
  buffer_.erase(0, end + 1);
  return line;
}

// The last line, if it has no end.
std::optional<InputLine> LineInput::take_rest() {
  if (buffer_.empty() && !is_skipping_) {
    return std::nullopt;
  }
  return InputLine{.number = ++lines_,
                   .text = std::exchange(buffer_, ""),
                   .is_too_long = std::exchange(is_skipping_, false)};
}

Result<std::optional<InputLine>> LineInput::next() {
  std::array<char, kReadBytes> piece{};
  while (!stop_.stop_requested()) {
    if (auto line = take_line()) {
      return line;
    }
    const Ready ready = wait_.wait(fd_);
    if (ready != Ready::input) {
      return std::nullopt;
    }
    const ssize_t count = ::read(fd_, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      return std::unexpected(os_error("read", "standard input", errno));
    }
    if (count == 0) {
      return take_rest();
    }
    buffer_.append(piece.data(), static_cast<std::size_t>(count));
  }
  return std::nullopt;
}

}  // namespace reprise::cli
