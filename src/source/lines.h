#pragma once

// The lines of a part of a file, one in memory at a time. Only \n ends a line: other programs'
// texts contain U+2028, \r and other separators.

#include <filesystem>

#include "reprise/error.h"

namespace reprise::source {

// A longer line is damage. Agents store images in lines, but those are smaller.
inline constexpr std::size_t kLineBytesMax = 24U << 20;

struct Line {
  std::string_view text;  // without its \n; valid until the next line is read
  std::int64_t at = 0;    // offset in the file
  std::int64_t number = 0;
  bool is_ended = true;      // false for a last line without \n
  bool is_too_long = false;  // `text` is its beginning
};

class LineReader {
 public:
  // Reads the bytes from `begin` to `end`, or to the end of the file if it is shorter. The file
  // must stay open.
  LineReader(int fd, std::filesystem::path file, std::int64_t begin, std::int64_t end)
      : fd_(fd), file_(std::move(file)), at_(begin), end_(end) {}

  // False at the end.
  Result<bool> next(Line& line);

 private:
  Result<bool> fill();  // false at the end of the file
  Result<> skip_line();

  int fd_;
  std::filesystem::path file_;
  std::int64_t at_;  // offset of the buffer's first unread byte
  std::int64_t end_;
  std::int64_t number_ = 0;
  std::string buffer_;
  std::size_t used_ = 0;      // bytes read from the buffer
  std::size_t searched_ = 0;  // bytes searched for \n
};

}  // namespace reprise::source
