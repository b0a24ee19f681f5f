#include "base/json_view.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>

#include "base/json_run.h"
#include "base/json_scan.h"

namespace reprise {
namespace {

constexpr std::size_t kPlacesMax = 1U << 18;  // 3 MB
constexpr std::size_t kPlacesUsual = 64;

}  // namespace

JsonView JsonView::operator[](std::string_view name) const {
  JsonView found;
  each_member([&](std::string_view one, JsonView value) { found = one == name ? value : found; });
  return found;
}

bool JsonTape::read(json::Scanner& scanner) {
  scanner.kind();  // skips whitespace
  const std::size_t begin = scanner.position();
  const std::string_view rest = scanner.rest();
  text_ = std::string_view(rest.data() - begin, begin + rest.size());
  is_whole_ = text_.size() <= std::numeric_limits<std::uint32_t>::max();
  tape_.clear();
  tape_.reserve(kPlacesUsual);
  const bool good = add(scanner);
  value_ = good ? text_.substr(begin, scanner.position() - begin) : std::string_view();
  if (!good || !is_whole_) {
    tape_.clear();
  }
  return good;
}

bool JsonTape::add(json::Scanner& scanner) {
  const json::Kind kind = scanner.kind();
  is_whole_ = is_whole_ && tape_.size() < kPlacesMax;
  if (!is_whole_) {
    return scanner.skip(kind);
  }
  const std::size_t index = tape_.size();
  const std::size_t begin = scanner.position();
  tape_.push_back({.begin = static_cast<std::uint32_t>(begin)});
  bool good = false;
  if (kind == json::Kind::object) {
    good = scanner.object([&](std::string_view name) { return add_name(name) && add(scanner); });
  } else if (kind == json::Kind::array) {
    good = scanner.array([&] { return add(scanner); });
  } else {
    good = scanner.skip(kind);
  }
  tape_[index].bytes = static_cast<std::uint32_t>(scanner.position() - begin);
  tape_[index].entries = static_cast<std::uint32_t>(tape_.size() - index);
  return good;
}

// A name with escapes is not in the text in its decoded form.
bool JsonTape::add_name(std::string_view name) {
  const bool is_in_text = !std::less<>()(name.data(), text_.data()) &&
                          std::less<>()(name.data(), text_.data() + text_.size());
  is_whole_ = is_whole_ && is_in_text;
  if (is_whole_) {
    tape_.push_back({.begin = static_cast<std::uint32_t>(name.data() - text_.data()),
                     .bytes = static_cast<std::uint32_t>(name.size())});
  }
  return true;
}

std::string JsonView::text() const {
  std::string out;
  json::Scanner scanner(json_);
  if (scanner.kind() != json::Kind::string || !scanner.string(out)) {
    out.clear();
  }
  return out;
}

std::string_view JsonView::text(std::string& buffer) const {
  if (json_.starts_with('"')) {
    const json::Run run = json::plain_run(json_, 1);
    if (run.ascii && run.end + 1 == json_.size()) {
      return json_.substr(1, run.end - 1);
    }
  }
  buffer = text();
  return buffer;
}

std::int64_t JsonView::count() const {
  std::int64_t out = 0;
  json::Scanner scanner(json_);
  if (scanner.kind() != json::Kind::number || !scanner.integer(out)) {
    return 0;
  }
  return std::max<std::int64_t>(out, 0);
}

bool is_json_object(std::string_view text) {
  json::Scanner scanner(text);
  return scanner.kind() == json::Kind::object && scanner.skip() && scanner.end();
}

}  // namespace reprise
