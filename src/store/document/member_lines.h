#pragma once

// Formats objects for files that are also read by people: one member per line, indented by two
// blanks per level, in the order of the calls. Values are written unchanged.

#include "base/json_scan.h"

namespace reprise::store {

class MemberLines {
 public:
  // The members are at depth `depth`.
  explicit MemberLines(int depth);

  void raw(std::string_view name, std::string_view json);
  void text(std::string_view name, std::string_view text);

  // The object; its first line is not indented.
  std::string object() const;

 private:
  std::string line_;
  std::string out_;
};

// Appends the scanner's next value: an object with its members in order, other values unchanged.
// Returns false, with `out` partly written, if it is not valid JSON.
bool append_respelled(std::string& out, json::Scanner& scanner, int depth);

// The formatted object with its members in order; other values unchanged.
std::string respelled(std::string_view json, int depth);

}  // namespace reprise::store
