#include "source/lines.h"

#include <algorithm>
#include <cstring>

#include "base/file.h"

namespace reprise::source {
namespace {

constexpr std::size_t kReadBytes = 256U << 10;
constexpr std::size_t kExcerptBytes = 1024;

}  // namespace

Result<bool> LineReader::fill() {
  if (used_ > 0) {
    buffer_.erase(0, used_);
    searched_ -= used_;
    used_ = 0;
  }
  const std::int64_t from = at_ + static_cast<std::int64_t>(buffer_.size());
  const auto count = static_cast<std::size_t>(
      std::clamp<std::int64_t>(end_ - from, 0, static_cast<std::int64_t>(kReadBytes)));
  if (count == 0) {
    return false;
  }
  const std::size_t before = buffer_.size();
  Result<std::size_t> bytes_read = 0U;
  // Clearing the buffer before would cost as much as reading a short file.
  buffer_.resize_and_overwrite(before + count, [&](char* data, std::size_t /*size*/) {
    bytes_read = read_at(fd_, {data + before, count}, from, file_);
    return before + bytes_read.value_or(0);
  });
  REPRISE_ASSIGN(const std::size_t bytes, std::move(bytes_read));
  return bytes > 0;
}

// Skips the remainder of a line that is too long.
Result<> LineReader::skip_line() {
  for (;;) {
    const std::size_t end = buffer_.find('\n', used_);
    if (end != std::string::npos) {
      at_ += static_cast<std::int64_t>(end + 1 - used_);
      used_ = searched_ = end + 1;
      return {};
    }
    at_ += static_cast<std::int64_t>(buffer_.size() - used_);
    used_ = searched_ = buffer_.size();
    REPRISE_ASSIGN(const bool has_more, fill());
    if (!has_more) {
      return {};
    }
  }
}

Result<bool> LineReader::next(Line& line) {
  line = {.text = {}, .at = at_, .number = ++number_};
  for (;;) {
    const std::size_t end = buffer_.find('\n', searched_);
    if (end != std::string::npos) {
      line.text = std::string_view(buffer_).substr(used_, end - used_);
      at_ += static_cast<std::int64_t>(end + 1 - used_);
      used_ = searched_ = end + 1;
      line.is_too_long = line.text.size() > kLineBytesMax;
      line.text = line.is_too_long ? line.text.substr(0, kExcerptBytes) : line.text;
      return true;
    }
    searched_ = buffer_.size();
    if (buffer_.size() - used_ > kLineBytesMax) {
      const std::string beginning = buffer_.substr(used_, kExcerptBytes);
      REPRISE_TRY(skip_line());
      // skip_line() has discarded the line: its beginning is inserted again.
      buffer_.insert(0, beginning);
      used_ += beginning.size();
      searched_ += beginning.size();
      line.text = std::string_view(buffer_).substr(0, beginning.size());
      line.is_too_long = true;
      return true;
    }
    REPRISE_ASSIGN(const bool has_more, fill());
    if (!has_more) {
      break;
    }
  }
  line.text = std::string_view(buffer_).substr(used_);
  line.is_ended = false;
  at_ += static_cast<std::int64_t>(line.text.size());
  used_ = searched_ = buffer_.size();
  return !line.text.empty();
}

}  // namespace reprise::source
