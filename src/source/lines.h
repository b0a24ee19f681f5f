#pragma once

// The lines of a part of a file, one in memory at a time. A line ends at \n and nowhere else: other
// programs leave U+2028, \r and what else looks like a line's end in their texts.

#include <filesystem>

#include "reprise/error.h"

namespace reprise::source {

// A longer line is damage: images stand in the lines of agents, and these stay below.
inline constexpr std::size_t kLineBytesMax = 24U << 20;

struct Line {
  std::string_view text;  // without its \n; until the next one is read
  std::int64_t at = 0;    // in the file
  std::int64_t number = 0;
  bool is_ended = true;      // false for the last one while it is being written
  bool is_too_long = false;  // `text` has its beginning only
};

class LineReader {
 public:
  // The bytes from `begin` up to `end`, or to the file's end when that comes first. The file must
  // stay open.
  LineReader(int fd, std::filesystem::path file, std::int64_t begin, std::int64_t end)
      : fd_(fd), file_(std::move(file)), at_(begin), end_(end) {}

  // False at the end.
  Result<bool> next(Line& line);

 private:
  Result<bool> fill();  // false when there is nothing more
  Result<> skip_line();

  int fd_;
  std::filesystem::path file_;
  std::int64_t at_;  // of the buffer's first byte that was not handed out
  std::int64_t end_;
  std::int64_t number_ = 0;
  std::string buffer_;
  std::size_t used_ = 0;      // of the buffer
  std::size_t searched_ = 0;  // without a \n
};

}  // namespace reprise::source
