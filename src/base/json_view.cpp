#include "base/json_view.h"

#include <algorithm>

#include "base/json_scan.h"

namespace reprise {

std::string JsonView::text() const {
  std::string out;
  json::Scanner scanner(json_);
  if (scanner.kind() != json::Kind::string || !scanner.string(out)) {
    out.clear();
  }
  return out;
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
