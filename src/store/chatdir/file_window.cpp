#include "store/chatdir/file_window.h"

#include <sys/stat.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"

namespace reprise::store::chatdir {
Result<> FileWindow::load(std::int64_t offset, std::size_t bytes) {
  // When reading backwards, the preceding bytes are needed next.
  std::int64_t from = offset;
  if (offset < begin_ && bytes < buffer_bytes_) {
    const auto before = static_cast<std::int64_t>(buffer_bytes_ - bytes);
    from = std::max<std::int64_t>(0, offset - before);
  }
  std::size_t count = std::max(buffer_bytes_, static_cast<std::size_t>(offset - from) + bytes);
  struct stat status{};
  if (::fstat(fd_, &status) == 0 && S_ISREG(status.st_mode)) {
    // A short file needs no large buffer, which would have to be zeroed first.
    const std::int64_t remaining = std::max<std::int64_t>(0, status.st_size - from);
    count = std::min(count, static_cast<std::size_t>(remaining));
  }
  if (buffer_.size() != count) {
    buffer_ = std::string();
    buffer_.resize(count);
  }
  begin_ = from;
  const auto read = read_at(fd_, buffer_, from, file_);
  buffer_.resize(read ? *read : 0);
  REPRISE_TRY(read);
  return {};
}

Result<std::string_view> FileWindow::view(std::int64_t offset, std::size_t bytes) {
  const auto end = begin_ + static_cast<std::int64_t>(buffer_.size());
  if (offset < begin_ || offset + static_cast<std::int64_t>(bytes) > end) {
    REPRISE_TRY(load(offset, bytes));
  }
  const auto start = static_cast<std::size_t>(offset - begin_);
  return std::string_view(buffer_).substr(std::min(start, buffer_.size()), bytes);
}

Result<FileWindow::LineView> FileWindow::line(std::int64_t offset, std::int64_t end) {
  const auto remaining =
      std::min(static_cast<std::size_t>(std::max<std::int64_t>(0, end - offset)), kLineBytesMax);
  // Starts with the buffered bytes, then reads more and more.
  const auto buffered = begin_ + static_cast<std::int64_t>(buffer_.size()) - offset;
  std::size_t bytes =
      offset >= begin_ && buffered > 0 ? static_cast<std::size_t>(buffered) : buffer_bytes_;
  for (std::size_t searched = 0;; bytes = std::max(bytes * 2, buffer_bytes_)) {
    REPRISE_ASSIGN(const std::string_view text, view(offset, std::min(bytes, remaining)));
    const std::size_t found = text.find('\n', searched);
    if (found != std::string_view::npos) {
      return LineView{text.substr(0, found), true};
    }
    if (text.size() == remaining || text.size() < bytes) {
      return LineView{text, false};
    }
    searched = text.size();
  }
}

Result<> copy_bytes(FileWindow& window, std::int64_t from, std::int64_t to, int out,
                    const std::filesystem::path& target) {
  while (from < to) {
    const auto count = std::min<std::int64_t>(to - from, FileWindow::kBufferBytes);
    REPRISE_ASSIGN(const std::string_view bytes,
                   window.view(from, static_cast<std::size_t>(count)));
    if (bytes.empty()) {
      return fail(Code::corrupt, cat(window.file().native(), " has become shorter"));
    }
    REPRISE_TRY(write_all(out, bytes, target));
    from += static_cast<std::int64_t>(bytes.size());
  }
  return {};
}

}  // namespace reprise::store::chatdir
