#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "cli/repl/line_source.h"
#include "cli/repl/multi_line.h"
#include "cli/repl/wait_input.h"

namespace reprise::cli {

namespace {

constexpr std::size_t kReadBytes = 64 << 10;

class PlainSource final : public LineSource {
 public:
  explicit PlainSource(PlainSourceOptions options) : options_(std::move(options)) {}

  Input read(std::string_view prompt, std::stop_token stop) override {
    const InputWait wait(std::move(stop));
    show(prompt);
    Input input;
    bool first = true;
    while (first || needs_another_line(input.text)) {
      if (!first) {
        show(". ");
      }
      const ReadStatus status = next_line(wait);
      if (status == ReadStatus::stopped) {
        bytes_.clear();
        return {Input::Kind::stopped, "", false};
      }
      if (status == ReadStatus::end) {
        break;
      }
      input.kind = Input::Kind::text;
      input.cut = input.cut || line_cut_;
      if (first) {
        input.text = std::move(line_);
      } else {
        join(input);
      }
      first = false;
    }
    return input;
  }

  void remember(std::string_view /*text*/) override {}

 private:
  enum class ReadStatus : std::uint8_t { line, end, stopped };

  void show(std::string_view prompt) {
    if (options_.show) {
      options_.show(prompt);
    }
  }

  void join(Input& input) {
    if (input.text.size() + line_.size() < kInputBytesMax) {
      add_line(input.text, line_);
    } else {
      input.cut = true;
    }
  }

  // Reads a line into line_, without its line end.
  ReadStatus next_line(const InputWait& wait) {
    line_.clear();
    line_cut_ = false;
    while (true) {
      const std::size_t end = bytes_.find('\n');
      take(std::min(end, bytes_.size()));
      if (end != std::string::npos) {
        bytes_.erase(0, 1);
        return finish_line();
      }
      const std::optional<ReadStatus> stopped = fill(wait);
      if (stopped == ReadStatus::stopped) {
        return ReadStatus::stopped;
      }
      if (stopped == ReadStatus::end) {
        return line_.empty() ? ReadStatus::end : finish_line();
      }
    }
  }

  void take(std::size_t count) {
    const std::size_t room = kInputBytesMax - line_.size();
    line_cut_ = line_cut_ || count > room;
    line_.append(bytes_, 0, std::min(count, room));
    bytes_.erase(0, count);
  }

  ReadStatus finish_line() {
    if (line_.ends_with('\r')) {
      line_.pop_back();
    }
    return ReadStatus::line;
  }

  // Reads more; nullopt on success.
  std::optional<ReadStatus> fill(const InputWait& wait) {
    switch (wait.wait(options_.input_fd)) {
      case Ready::stopped:
        return ReadStatus::stopped;
      case Ready::gone:
        return ReadStatus::end;
      case Ready::input:
        break;
    }
    std::array<char, kReadBytes> chunk{};
    const ssize_t count = ::read(options_.input_fd, chunk.data(), chunk.size());
    if (count > 0) {
      bytes_.assign(chunk.data(), static_cast<std::size_t>(count));
      return std::nullopt;
    }
    const bool again = count < 0 && (errno == EINTR || errno == EAGAIN);
    return again ? std::nullopt : std::optional(ReadStatus::end);
  }

  PlainSourceOptions options_;
  std::string bytes_;  // read but not consumed
  std::string line_;
  bool line_cut_ = false;
};

}  // namespace

std::unique_ptr<LineSource> make_plain_source(PlainSourceOptions options) {
  return std::make_unique<PlainSource>(std::move(options));
}

}  // namespace reprise::cli
