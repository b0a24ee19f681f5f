#include "base/json_view.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>

#include "base/json_run.h"
#include "base/json_scan.h"

namespace reprise {
namespace {

constexpr std::size_t kTapeEntriesMax = 1U << 18;  // 3 MB
constexpr std::size_t kTapeEntriesReserved = 64;

}  // namespace

JsonView JsonView::operator[](std::string_view name) const {
  JsonView found;
  each_member([&](std::string_view key, JsonView value) { found = key == name ? value : found; });
  return found;
}

bool JsonTape::read(json::Scanner& scanner) {
  scanner.kind();  // skips whitespace
  const std::size_t begin = scanner.position();
  const std::string_view remaining = scanner.rest();
  text_ = std::string_view(remaining.data() - begin, begin + remaining.size());
  is_complete_ = text_.size() <= std::numeric_limits<std::uint32_t>::max();
  tape_.clear();
  tape_.reserve(kTapeEntriesReserved);
  const bool good = add(scanner);
  value_ = good ? text_.substr(begin, scanner.position() - begin) : std::string_view();
  if (!good || !is_complete_) {
    tape_.clear();
  }
  return good;
}

bool JsonTape::add(json::Scanner& scanner) {
  const json::Kind kind = scanner.kind();
  is_complete_ = is_complete_ && tape_.size() < kTapeEntriesMax;
  if (!is_complete_) {
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
  is_complete_ = is_complete_ && is_in_text;
  if (is_complete_) {
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
