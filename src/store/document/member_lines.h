#pragma once

// Objects in files that people read, too: a member a line, two blanks for each level, in the order
// of the calls. Values stand as they are handed in.

#include "base/json_scan.h"

namespace reprise::store {

class MemberLines {
 public:
  // The members stand `depth` levels deep.
  explicit MemberLines(int depth);

  void raw(std::string_view name, std::string_view json);
  void text(std::string_view name, std::string_view text);

  // The first line as it stands, the others indented.
  std::string object() const;

 private:
  std::string line_;
  std::string out_;
};

// Appends the value that comes next: an object with its members in their order, any other as it is.
// False, with something in `out`, when it is not valid JSON.
bool append_respelled(std::string& out, json::Scanner& scanner, int depth);

// An object that was read, its members in their order; any other value as it is.
std::string respelled(std::string_view json, int depth);

}  // namespace reprise::store
