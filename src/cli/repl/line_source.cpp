#include "cli/repl/line_source.h"

#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "base/utf8.h"

namespace reprise::cli {
namespace {

constexpr std::size_t kFenceMin = 3;

bool ends_in_backslash(std::string_view text) {
  const std::size_t last_other = text.find_last_not_of('\\');
  const std::size_t count =
      last_other == std::string_view::npos ? text.size() : text.size() - last_other - 1;
  return count % 2 == 1;
}

// The number of backticks if this line opens or closes a fence, else 0.
std::size_t fence_of(std::string_view line) {
  const std::string_view mark = line.substr(std::min(line.find_first_not_of(' '), line.size()));
  const std::size_t ticks = std::min(mark.find_first_not_of('`'), mark.size());
  return ticks >= kFenceMin ? ticks : 0;
}

bool has_open_fence(std::string_view text) {
  std::size_t open = 0;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    const std::size_t fence = fence_of(line);
    const std::string_view after = trimmed(line).substr(fence);
    if (open == 0 && fence > 0 && !after.contains('`')) {
      open = fence;
    } else if (open > 0 && fence >= open && after.empty()) {
      open = 0;
    }
    at = end + 1;
  }
  return open > 0;
}

constexpr std::size_t kLineReadBytes = 64 << 10;

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
      input.truncated = input.truncated || line_truncated_;
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
      input.truncated = true;
    }
  }

  // Reads a line into line_, without its line end.
  ReadStatus next_line(const InputWait& wait) {
    line_.clear();
    line_truncated_ = false;
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
    const std::size_t free_bytes = kInputBytesMax - line_.size();
    line_truncated_ = line_truncated_ || count > free_bytes;
    line_.append(bytes_, 0, std::min(count, free_bytes));
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
      case Ready::closed:
        return ReadStatus::end;
      case Ready::input:
        break;
    }
    std::array<char, kLineReadBytes> chunk{};
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
  bool line_truncated_ = false;
};

}  // namespace

bool needs_another_line(std::string_view text) {
  return has_open_fence(text) || ends_in_backslash(text);
}

void add_line(std::string& text, std::string_view line) {
  if (!has_open_fence(text) && ends_in_backslash(text)) {
    text.pop_back();
  }
  text += '\n';
  text += line;
}

std::string clean_paste(std::string_view pasted) {
  std::string out;
  out.reserve(pasted.size());
  for (std::size_t at = 0; at < pasted.size(); ++at) {
    const char c = pasted[at];
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\r') {
      out += '\n';
      if (at + 1 < pasted.size() && pasted[at + 1] == '\n') {
        ++at;
      }
    } else if (c == '\n' || c == '\t' || (byte >= 0x20 && byte != 0x7f)) {
      out += c;
    }
  }
  out.erase(std::min(out.find_last_not_of('\n') + 1, out.size()));
  return utf8::sanitize(out);
}

std::unique_ptr<LineSource> make_plain_source(PlainSourceOptions options) {
  return std::make_unique<PlainSource>(std::move(options));
}

}  // namespace reprise::cli
