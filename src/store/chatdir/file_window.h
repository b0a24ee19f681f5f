#pragma once

// Reads a file through a sliding buffer: memory is limited to a megabyte, or to the longest piece
// requested. (With mmap(), truncation by another program would end the process.)

#include <algorithm>
#include <cstddef>
#include <filesystem>

#include "reprise/error.h"

namespace reprise::store::chatdir {

class FileWindow {
 public:
  static constexpr std::size_t kBufferBytes = std::size_t{1} << 20U;

  // `fd` must stay open. Errors name `file`. A smaller buffer suffices for a small file.
  FileWindow(int fd, std::filesystem::path file, std::size_t buffer_bytes = kBufferBytes)
      : fd_(fd), file_(std::move(file)), buffer_bytes_(std::min(buffer_bytes, kBufferBytes)) {}

  // The bytes from `offset` on, fewer than requested only at the end of the file. Valid until the
  // next call.
  Result<std::string_view> view(std::int64_t offset, std::size_t bytes);

  // The same up to `end` or the next line end, which is excluded; at most kLineBytesMax.
  static constexpr std::size_t kLineBytesMax = std::size_t{192} << 20U;
  struct LineView {
    std::string_view text;
    bool has_end = false;  // a line end follows
  };
  Result<LineView> line(std::int64_t offset, std::int64_t end);

  const std::filesystem::path& file() const { return file_; }

 private:
  Result<> load(std::int64_t offset, std::size_t bytes);

  int fd_;
  std::filesystem::path file_;
  std::size_t buffer_bytes_;
  std::string buffer_;
  std::int64_t begin_ = 0;  // the buffer's offset in the file
};

// Writes the bytes [from, to) to `out` in pieces. corrupt if the file has become shorter.
Result<> copy_bytes(FileWindow& window, std::int64_t from, std::int64_t to, int out,
                    const std::filesystem::path& target);

}  // namespace reprise::store::chatdir
