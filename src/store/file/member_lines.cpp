#include "store/file/member_lines.h"

#include <cstddef>
#include <string>
#include <string_view>

#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/text.h"

namespace reprise::store {

MemberLines::MemberLines(int depth) : line_(static_cast<std::size_t>(depth) * 2 + 1, ' ') {
  line_.front() = '\n';
}

void MemberLines::raw(std::string_view name, std::string_view json) {
  out_ += out_.empty() ? "" : ",";
  out_ += line_;
  json::append_string(out_, name);
  out_.append(": ").append(json);
}

void MemberLines::text(std::string_view name, std::string_view text) {
  raw(name, json::quoted(text));
}

std::string MemberLines::object() const {
  const std::string_view last = std::string_view(line_).substr(0, line_.size() - 2);
  return out_.empty() ? "{}" : cat("{", out_, last, "}");
}

std::string respelled(std::string_view json, int depth) {
  json::Scanner scanner(json);
  if (scanner.kind() != json::Kind::object) {
    return std::string(json);
  }
  MemberLines lines(depth);
  const bool whole = scanner.object([&](std::string_view name) {
    std::string_view raw;
    if (!scanner.raw(raw)) {
      return false;
    }
    lines.raw(name, raw);
    return true;
  });
  return whole ? lines.object() : std::string(json);
}

}  // namespace reprise::store
