#include "store/file/member_lines.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

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

bool append_respelled(std::string& out, json::Scanner& scanner, int depth) {
  std::string_view raw;
  if (scanner.kind() != json::Kind::object) {
    const bool whole = scanner.raw(raw);
    out += raw;
    return whole;
  }
  const std::size_t blanks = static_cast<std::size_t>(depth) * 2;
  const char* before = "{\n";
  const bool whole = scanner.object([&](std::string_view name) {
    if (!scanner.raw(raw)) {
      return false;
    }
    out.append(std::exchange(before, ",\n")).append(blanks, ' ');
    json::append_string(out, name);
    out.append(": ").append(raw);
    return true;
  });
  const bool is_empty = *before == '{';
  is_empty ? out.append("{}") : out.append("\n").append(blanks - 2, ' ').append("}");
  return whole;
}

std::string respelled(std::string_view json, int depth) {
  std::string out;
  json::Scanner scanner(json);
  return append_respelled(out, scanner, depth) ? out : std::string(json);
}

}  // namespace reprise::store
