#pragma once

// Reads the elements of a JSON array that is larger than memory, one at a time. Damaged elements
// are skipped: the next one is found by the first key that all elements share.

#include <filesystem>

#include "base/json_view.h"  // IWYU pragma: export
#include "reprise/source.h"

namespace reprise::source {

// A larger element is damage.
inline constexpr std::size_t kElementBytesMax = 128U << 20;

struct Element {
  JsonView json;        // an object, valid until the next one is read
  std::int64_t at = 0;  // offset in the file

  std::int64_t bytes() const { return static_cast<std::int64_t>(json.raw().size()); }
};

class ElementReader {
 public:
  // All elements have `member`, which tells them from nested objects. The file must stay open.
  ElementReader(int fd, std::filesystem::path file, std::string_view member)
      : fd_(fd), file_(std::move(file)), member_(member) {}

  // False at the end. A file with an object instead of an array has one element.
  Result<bool> next(Element& element, ReadReport& report);

 private:
  Result<bool> fill(std::size_t from);  // false at the end of the file
  Result<bool> has(std::size_t at);     // reads until this byte is in the buffer
  Result<bool> skip_to_element(ReadReport& report);
  Result<std::size_t> end_of(std::size_t from);  // of this value; 0: truncated or too large
  Result<bool> skip_damage(ReadReport& report);
  bool deliver(std::size_t end, Element& element);

  int fd_;
  std::filesystem::path file_;
  std::string_view member_;
  std::string buffer_;
  std::int64_t at_ = 0;    // the buffer's offset in the file
  std::size_t begin_ = 0;  // of the unread bytes in the buffer
  bool has_started_ = false;
  bool is_array_ = false;
  bool is_over_ = false;
  std::int64_t tried_bytes_ = 0;
  std::string first_key_;  // the first key of all elements, with its quotes
};

// Whether the first element of a file with this beginning has the member.
bool begins_with_element(std::string_view beginning, std::string_view member);

// Reads the elements until `each` returns Flow::stop.
Result<> for_each_element(int fd, const std::filesystem::path& file, std::string_view member,
                          ReadReport& report, const std::function<Flow(const Element&)>& each);

}  // namespace reprise::source
