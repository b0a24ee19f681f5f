#include "source/elements.h"

#include <algorithm>
#include <cstring>

#include "base/file.h"
#include "base/json_scan.h"
#include "base/text.h"
#include "source/file.h"

namespace reprise::source {
namespace {

constexpr std::size_t kPieceBytes = 256U << 10;
constexpr std::size_t kExcerptMax = 1024;
// An element's first key ends within this many bytes.
constexpr std::size_t kFirstKeyMax = 100;
// Limits how many bytes are scanned again to find elements after damage.
constexpr std::int64_t kTriedBytesMax = std::int64_t{1} << 30;

bool is_json_blank(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

// Finds the end of a JSON value by its brackets and strings, incrementally.
class ValueEnd {
 public:
  // Whether the value ends within these bytes; `consumed` is then how many of them belong to it.
  bool ends_in(std::string_view bytes, std::size_t& consumed) {
    std::size_t i = 0;
    while (i < bytes.size()) {
      if (is_in_string_) {
        i = skip_string(bytes, i);
        continue;
      }
      const char c = bytes[i++];
      if (c == '"') {
        is_in_string_ = true;
      } else if (c == '{' || c == '[') {
        ++depth_;
      } else if ((c == '}' || c == ']') && --depth_ <= 0) {
        consumed = i;
        return true;
      }
    }
    return false;
  }

 private:
  std::size_t skip_string(std::string_view bytes, std::size_t i) {
    for (; i < bytes.size(); ++i) {
      if (is_escaped_) {
        is_escaped_ = false;
      } else if (bytes[i] == '\\') {
        is_escaped_ = true;
      } else if (bytes[i] == '"') {
        is_in_string_ = false;
        return i + 1;
      }
    }
    return i;
  }

  int depth_ = 0;
  bool is_in_string_ = false;
  bool is_escaped_ = false;
};

// An object's first key with its quotes; "" if it has none.
std::string first_key_of(std::string_view object) {
  const std::size_t quote = object.find('"');
  const std::size_t end = quote == std::string_view::npos ? quote : object.find('"', quote + 1);
  return end == std::string_view::npos || end > kFirstKeyMax
             ? std::string()
             : std::string(object.substr(quote, end + 1 - quote));
}

}  // namespace

// Reads more. Discards the bytes before `from` if that frees much space.
Result<bool> ElementReader::fill(std::size_t from) {
  if (from > kPieceBytes && from > buffer_.size() / 2) {
    buffer_.erase(0, from);
    at_ += static_cast<std::int64_t>(from);
    begin_ -= from;
  }
  const std::size_t before = buffer_.size();
  buffer_.resize(before + kPieceBytes);
  REPRISE_ASSIGN(const std::size_t bytes_read,
                 read_at(fd_, std::span(buffer_).subspan(before),
                         at_ + static_cast<std::int64_t>(before), file_));
  buffer_.resize(before + bytes_read);
  return bytes_read > 0;
}

Result<bool> ElementReader::has(std::size_t at) {
  while (at >= buffer_.size()) {
    REPRISE_ASSIGN(const bool has_more, fill(0));
    if (!has_more) {
      return false;
    }
  }
  return true;
}

// The end of the value at begin_ + from, relative to begin_. Discards only bytes before begin_.
Result<std::size_t> ElementReader::end_of(std::size_t from) {
  ValueEnd value;
  std::size_t seen = from;
  for (;;) {
    std::size_t consumed = 0;
    if (value.ends_in(std::string_view(buffer_).substr(begin_ + seen), consumed)) {
      return seen + consumed - from > kElementBytesMax ? 0 : seen + consumed;
    }
    seen = buffer_.size() - begin_;
    if (seen - from > kElementBytesMax) {
      return 0;
    }
    REPRISE_ASSIGN(const bool has_more, fill(begin_));
    if (!has_more) {
      return 0;
    }
  }
}

// Moves to the next element; false at the end.
Result<bool> ElementReader::skip_to_element(ReadReport& report) {
  for (;;) {
    REPRISE_ASSIGN(const bool is_present, has(begin_));
    if (!is_present) {
      if (is_array_) {
        add_damage(report, {file_.native(), "truncated: the array has no end", ""});
      }
      return false;
    }
    const char c = buffer_[begin_];
    if (!has_started_ && c == '[') {
      is_array_ = true;
    } else if (has_started_ && is_array_ && c == ']') {
      return false;
    } else if (!is_json_blank(c) && c != ',' && static_cast<unsigned char>(c) != 0xEF &&
               static_cast<unsigned char>(c) != 0xBB && static_cast<unsigned char>(c) != 0xBF) {
      has_started_ = true;
      return true;
    }
    has_started_ = has_started_ || c == '[';
    ++begin_;
    if (begin_ > kPieceBytes && begin_ == buffer_.size()) {
      REPRISE_ASSIGN(const bool has_more, fill(begin_));
      (void)has_more;  // has() checks
    }
  }
}

bool ElementReader::deliver(std::size_t end, Element& element) {
  const std::string_view text = std::string_view(buffer_).substr(begin_, end);
  json::Scanner scanner(text);
  if (scanner.kind() != json::Kind::object || !scanner.skip() ||
      json::find_member(text, member_).empty()) {
    return false;
  }
  if (first_key_.empty()) {
    first_key_ = first_key_of(text);
  }
  element = {JsonView(text), at_ + static_cast<std::int64_t>(begin_)};
  return true;
}

// Moves from a damaged element to the next intact one. False if there is none.
Result<bool> ElementReader::skip_damage(ReadReport& report) {
  const std::int64_t from = at_ + static_cast<std::int64_t>(begin_);
  const std::string beginning = buffer_.substr(begin_, kExcerptMax);
  const std::string key =
      first_key_.empty() ? first_key_of(std::string_view(buffer_).substr(begin_)) : first_key_;
  bool is_found = false;
  ++begin_;
  while (!is_found && !key.empty()) {
    const std::size_t next = buffer_.find(key, begin_);
    if (next == std::string::npos) {
      // The key may span two pieces.
      begin_ = std::max(begin_, buffer_.size() - std::min(buffer_.size(), 2 * kFirstKeyMax));
      REPRISE_ASSIGN(const bool has_more, fill(begin_));
      if (!has_more) {
        break;
      }
      continue;
    }
    const std::size_t brace = buffer_.find_last_not_of(" \n\r\t", next - 1);
    if (next == 0 || brace == std::string::npos || brace < begin_ || buffer_[brace] != '{') {
      begin_ = next + 1;
      continue;
    }
    begin_ = brace;
    REPRISE_ASSIGN(const std::size_t end, end_of(0));
    tried_bytes_ += static_cast<std::int64_t>(end > 0 ? end : buffer_.size() - begin_);
    if (tried_bytes_ > kTriedBytesMax) {
      break;
    }
    Element unused;
    is_found = end > 0 && deliver(end, unused);
    begin_ += is_found ? 0 : 1;
  }
  if (!is_found) {
    begin_ = buffer_.size();  // to the end
  }
  const std::int64_t to = at_ + static_cast<std::int64_t>(begin_);
  add_damage(report, {cat(file_.native(), ": bytes ", from, " to ", to),
                      "truncated, damaged or too large", beginning});
  return is_found;
}

Result<bool> ElementReader::next(Element& element, ReadReport& report) {
  if (is_over_) {
    return false;
  }
  for (;;) {
    REPRISE_ASSIGN(const bool is_present, skip_to_element(report));
    if (!is_present) {
      is_over_ = true;
      return false;
    }
    const bool can_begin = buffer_[begin_] == '{';
    REPRISE_ASSIGN(const std::size_t end, can_begin ? end_of(0) : Result<std::size_t>(0));
    if (end > 0 && deliver(end, element)) {
      begin_ += end;
      is_over_ = !is_array_;
      return true;
    }
    if (end > 0 && json::Scanner(std::string_view(buffer_).substr(begin_, end)).skip()) {
      add_damage(report,
                 {cat(file_.native(), ": byte ", at_ + static_cast<std::int64_t>(begin_)),
                  "not a conversation", buffer_.substr(begin_, std::min(end, kExcerptMax))});
      begin_ += end;
      continue;
    }
    REPRISE_ASSIGN(const bool is_found, skip_damage(report));
    if (!is_found) {
      is_over_ = true;
      return false;
    }
  }
}

bool begins_with_element(std::string_view beginning, std::string_view member) {
  beginning = without_byte_order_mark(beginning);
  bool has_member = false;
  json::Scanner scanner(beginning);
  // The text is truncated; what was parsed before that counts.
  const auto scan_object = [&] {
    return scanner.object([&](std::string_view name) {
      has_member = has_member || name == member;
      return !has_member && scanner.skip();
    });
  };
  if (scanner.kind() == json::Kind::array) {
    (void)scanner.array([&] { return scan_object() && false; });  // only the first element
  } else {
    (void)scan_object();
  }
  return has_member;
}

Result<> for_each_element(int fd, const std::filesystem::path& file, std::string_view member,
                          ReadReport& report, const std::function<Flow(const Element&)>& each) {
  ElementReader reader(fd, file, member);
  Element element;
  for (;;) {
    REPRISE_ASSIGN(const bool has_more, reader.next(element, report));
    if (!has_more || each(element) == Flow::stop) {
      return {};
    }
  }
}

}  // namespace reprise::source
