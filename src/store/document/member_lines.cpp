#include "store/document/member_lines.h"

#include <cstddef>

#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/text.h"

namespace reprise::store {
namespace {

// The beginning of a member's line.
std::string line_of(int depth) {
  return "\n" + std::string(static_cast<std::size_t>(depth) * 2, ' ');
}

// The line end and indentation before the closing brace.
std::string_view last_line(std::string_view line) {
  return line.substr(0, line.size() - 2);
}

void append_member(std::string& out, std::string_view line, std::string_view name,
                   std::string_view json) {
  out += line;
  json::append_string(out, name);
  out.append(": ").append(json);
}

}  // namespace

MemberLines::MemberLines(int depth) : line_(line_of(depth)) {}

void MemberLines::raw(std::string_view name, std::string_view json) {
  out_ += out_.empty() ? "" : ",";
  append_member(out_, line_, name, json);
}

void MemberLines::text(std::string_view name, std::string_view text) {
  raw(name, json::quoted(text));
}

std::string MemberLines::object() const {
  return out_.empty() ? "{}" : cat("{", out_, last_line(line_), "}");
}

bool append_respelled(std::string& out, json::Scanner& scanner, int depth) {
  std::string_view raw;
  if (scanner.kind() != json::Kind::object) {
    const bool whole = scanner.raw(raw);
    out += raw;
    return whole;
  }
  const std::string line = line_of(depth);
  bool is_empty = true;
  out += '{';
  const bool whole = scanner.object([&](std::string_view name) {
    if (!scanner.raw(raw)) {
      return false;
    }
    out += std::exchange(is_empty, false) ? "" : ",";
    append_member(out, line, name, raw);
    return true;
  });
  out.append(is_empty ? "" : last_line(line)).append("}");
  return whole;
}

std::string respelled(std::string_view json, int depth) {
  std::string out;
  json::Scanner scanner(json);
  return append_respelled(out, scanner, depth) ? out : std::string(json);
}

}  // namespace reprise::store
