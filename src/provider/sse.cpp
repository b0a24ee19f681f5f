#include "provider/sse.h"

#include <algorithm>

#include "provider/refusal.h"
#include "reprise/error.h"

namespace reprise::provider {

bool SseParser::next_line(std::string_view& bytes, std::string_view& line) {
  if (after_cr_ && !bytes.empty()) {
    after_cr_ = false;
    if (bytes.front() == '\n') {
      bytes.remove_prefix(1);
    }
  }
  // Almost all lines end in LF alone.
  auto end = bytes.find('\n');
  end = std::min(end, bytes.substr(0, end).find('\r'));
  if (end == std::string_view::npos) {
    pending_ += bytes;
    return false;
  }
  line = bytes.substr(0, end);
  if (!pending_.empty()) {
    line_ = std::exchange(pending_, {});
    line_ += line;
    line = line_;
  }
  after_cr_ = bytes[end] == '\r';
  bytes.remove_prefix(end + 1);
  if (std::exchange(at_start_, false) && line.starts_with("\xEF\xBB\xBF")) {
    line.remove_prefix(3);
  }
  return true;
}

void SseParser::read_field(std::string_view line) {
  const auto colon = line.find(':');
  const std::string_view field = line.substr(0, colon);
  std::string_view value;
  if (colon != std::string_view::npos) {
    value = line.substr(colon + 1);
    if (value.starts_with(' ')) {
      value.remove_prefix(1);
    }
  }
  if (field == "event") {
    name_ = value;
  } else if (field == "data") {
    if (std::exchange(has_data_, true)) {
      data_ += '\n';
    }
    data_ += value;
  }
}

Result<> SseParser::check_size() const {
  return static_cast<std::int64_t>(pending_.size() + data_.size()) > event_bytes_max_
             ? answer_too_large(event_bytes_max_)
             : Result<>();
}

}  // namespace reprise::provider
