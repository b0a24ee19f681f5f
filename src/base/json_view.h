#pragma once

// Read access to JSON text that is known to be valid, without copying it. Members that are missing
// or of another type read as empty, since servers differ in what they omit.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "base/json_scan.h"  // IWYU pragma: export

namespace reprise {

class JsonTape;

// A view: the text must outlive it, and so must its tape, if any.
class JsonView {
 public:
  JsonView() = default;
  explicit JsonView(std::string_view json) : json_(json) {}

  JsonView operator[](std::string_view name) const;

  // Looks up several members in one pass; duplicate names return the last member. Separate lookups
  // would each scan the whole object.
  template <std::size_t N>
  std::array<JsonView, N> members(const std::string_view (&names)[N]) const;

  bool is(json::Kind kind) const { return json::Scanner(json_).kind() == kind; }
  // True if there is a value other than null.
  explicit operator bool() const { return !json_.empty() && !is(json::Kind::null); }

  std::string_view raw() const { return json_; }
  std::string text() const;  // "" if it is not a string
  // The same, in the view's own text if it has no escapes, otherwise in `buffer`.
  std::string_view text(std::string& buffer) const;
  std::int64_t count() const;  // 0 if it is not an integer or negative

  template <class Each>
  void each(const Each& element) const;  // element(JsonView); never called for other types
  template <class Each>
  void each_member(const Each& member) const;  // member(name, JsonView); likewise

 private:
  friend class JsonTape;
  struct TapeEntry;
  JsonView(std::string_view json, const TapeEntry* entry) : json_(json), entry_(entry) {}
  JsonView at(const TapeEntry* entry) const;

  std::string_view json_;
  const TapeEntry* entry_ = nullptr;  // in the tape
};

// Of a value, or of a member's name, which is followed by its value.
struct JsonView::TapeEntry {
  std::uint32_t begin = 0;  // in the text
  std::uint32_t bytes = 0;
  std::uint32_t entries = 1;  // of this value and everything in it
};

// The positions of all values of a text, found in one pass, so that views do not scan the text
// again.
class JsonTape {
 public:
  // Reads the next value. False for malformed text, like the scanner.
  bool read(json::Scanner& scanner);
  // Of that value, valid until the next one is read.
  JsonView view() const { return {value_, tape_.empty() ? nullptr : tape_.data()}; }
  std::size_t bytes() const { return tape_.size() * sizeof(JsonView::TapeEntry); }  // in memory

 private:
  bool add(json::Scanner& scanner);
  bool add_name(std::string_view name);

  std::string_view text_;   // of the scanner
  std::string_view value_;  // in it
  std::vector<JsonView::TapeEntry> tape_;
  bool is_complete_ = true;  // false: views look into the text
};

// True when `text` is exactly one JSON object.
bool is_json_object(std::string_view text);

inline JsonView JsonView::at(const TapeEntry* entry) const {
  return {std::string_view(json_.data() + (entry->begin - entry_->begin), entry->bytes), entry};
}

template <std::size_t N>
std::array<JsonView, N> JsonView::members(const std::string_view (&names)[N]) const {
  std::array<JsonView, N> found;
  each_member([&](std::string_view name, JsonView value) {
    if (const auto at = std::ranges::find(names, name); at != std::end(names)) {
      found.at(static_cast<std::size_t>(at - std::begin(names))) = value;
    }
  });
  return found;
}

template <class Each>
void JsonView::each_member(const Each& member) const {
  json::Scanner scanner(json_);
  if (scanner.kind() != json::Kind::object) {
    return;
  }
  if (entry_ != nullptr) {
    for (const TapeEntry* name = entry_ + 1; name < entry_ + entry_->entries;) {
      const TapeEntry* const value = name + 1;
      member(at(name).json_, at(value));
      name = value + value->entries;
    }
    return;
  }
  // The text is valid, so this cannot fail.
  (void)scanner.object([&](std::string_view name) {
    std::string_view value;
    const bool good = scanner.raw(value);
    if (good) {
      member(name, JsonView(value));
    }
    return good;
  });
}

template <class Each>
void JsonView::each(const Each& element) const {
  json::Scanner scanner(json_);
  if (scanner.kind() != json::Kind::array) {
    return;
  }
  if (entry_ != nullptr) {
    for (const TapeEntry* item = entry_ + 1; item < entry_ + entry_->entries;
         item += item->entries) {
      element(at(item));
    }
    return;
  }
  // The text is valid, so this cannot fail.
  (void)scanner.array([&] {
    std::string_view value;
    const bool good = scanner.raw(value);
    if (good) {
      element(JsonView(value));
    }
    return good;
  });
}

}  // namespace reprise
