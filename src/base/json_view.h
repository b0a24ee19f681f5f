#pragma once

// Looking into a JSON text that is known to be valid, without keeping anything of it. Members that
// are missing or of another type read as empty, as servers differ in what they leave out.

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>

#include "base/json_scan.h"  // IWYU pragma: export

namespace reprise {

// A view: the text must outlive it.
class JsonView {
 public:
  JsonView() = default;
  explicit JsonView(std::string_view json) : json_(json) {}

  JsonView operator[](std::string_view name) const {
    return JsonView(json::find_member(json_, name));
  }

  // Several at once: of each name the last member. Looking for one after the other reads all of the
  // object each time.
  template <std::size_t N>
  std::array<JsonView, N> members(const std::string_view (&names)[N]) const;

  bool is(json::Kind kind) const { return json::Scanner(json_).kind() == kind; }
  // Something is there, and it is not null.
  explicit operator bool() const { return !json_.empty() && !is(json::Kind::null); }

  std::string_view raw() const { return json_; }
  std::string text() const;    // "" for what is no string
  std::int64_t count() const;  // 0 for what is no integer, and for negative ones

  template <class Each>
  void each(const Each& element) const;  // element(JsonView), none for what is no array

 private:
  std::string_view json_;
};

// True when `text` is exactly one JSON object.
bool is_json_object(std::string_view text);

template <std::size_t N>
std::array<JsonView, N> JsonView::members(const std::string_view (&names)[N]) const {
  std::array<JsonView, N> found;
  json::Scanner scanner(json_);
  if (scanner.kind() != json::Kind::object) {
    return found;
  }
  // The text is valid, so this cannot fail.
  (void)scanner.object([&](std::string_view name) {
    std::string_view value;
    const bool good = scanner.raw(value);
    if (const auto at = std::ranges::find(names, name); at != std::end(names)) {
      found.at(static_cast<std::size_t>(at - std::begin(names))) = JsonView(value);
    }
    return good;
  });
  return found;
}

template <class Each>
void JsonView::each(const Each& element) const {
  json::Scanner scanner(json_);
  if (scanner.kind() != json::Kind::array) {
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
