#pragma once

// The elements of a JSON array that is larger than memory, one at a time. Damage costs the elements
// that it stands in: the next one is found by how all of them begin.

#include <filesystem>

#include "base/json_view.h"
#include "reprise/source.h"

namespace reprise::source {

// A larger element is damage.
inline constexpr std::size_t kElementBytesMax = 24U << 20;

struct Element {
  JsonView json;        // an object, until the next one is read
  std::int64_t at = 0;  // in the file

  std::int64_t bytes() const { return static_cast<std::int64_t>(json.raw().size()); }
};

class ElementReader {
 public:
  // All elements have this member, which tells one from what is within another. The file must stay
  // open.
  ElementReader(int fd, std::filesystem::path file, std::string_view member)
      : fd_(fd), file_(std::move(file)), member_(member) {}

  // False at the end. A file with one object and no array has one element.
  Result<bool> next(Element& element, ReadReport& report);

 private:
  Result<bool> fill(std::size_t from);  // false when there is nothing more
  Result<bool> has(std::size_t at);     // a byte is there, in memory
  Result<bool> skip_to_element(ReadReport& report);
  Result<std::size_t> end_of(std::size_t from);  // of the value there; 0: cut or too long
  Result<bool> skip_damage(ReadReport& report);
  bool deliver(std::size_t end, Element& element);

  int fd_;
  std::filesystem::path file_;
  std::string_view member_;
  std::string buffer_;
  std::int64_t at_ = 0;    // of the buffer in the file
  std::size_t begin_ = 0;  // of what was not handed out, in the buffer
  bool has_started_ = false;
  bool is_array_ = false;
  bool is_over_ = false;
  std::int64_t tried_bytes_ = 0;
  std::string first_key_;  // the bytes that all elements begin with: {"title"
};

// Whether a file that begins so has such an element at first.
bool begins_with_element(std::string_view beginning, std::string_view member);

// Reads the elements until `each` says stop.
Result<> for_each_element(int fd, const std::filesystem::path& file, std::string_view member,
                          ReadReport& report, const std::function<Flow(const Element&)>& each);

}  // namespace reprise::source
