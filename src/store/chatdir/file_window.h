#pragma once

// A file read through a buffer that moves over it: memory stays at a megabyte, or at the longest
// piece that was asked for. (A mapped file would end the process when another program cuts it.)

#include <algorithm>
#include <cstddef>
#include <filesystem>

#include "reprise/error.h"

namespace reprise::store::chatdir {

class FileWindow {
 public:
  static constexpr std::size_t kBufferBytes = std::size_t{1} << 20U;

  // `fd` must stay open. Errors name `file`. A smaller buffer does for a small file.
  FileWindow(int fd, std::filesystem::path file, std::size_t buffer_bytes = kBufferBytes)
      : fd_(fd), file_(std::move(file)), buffer_bytes_(std::min(buffer_bytes, kBufferBytes)) {}

  // The bytes from `offset` on, fewer than asked for only at the end of the file. Good until the
  // next call.
  Result<std::string_view> view(std::int64_t offset, std::size_t bytes);

  // The same up to `end` or the next line end, which is not part of it; no more than kLineBytesMax.
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
  std::int64_t begin_ = 0;  // where in the file the buffer stands
};

// Writes the bytes [from, to) to `out`, piece by piece. corrupt when the file has become shorter.
Result<> copy_bytes(FileWindow& window, std::int64_t from, std::int64_t to, int out,
                    const std::filesystem::path& target);

}  // namespace reprise::store::chatdir
