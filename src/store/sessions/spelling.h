#pragma once

// The JSON spelling of the program that defined this format: two spaces of indentation, keys in
// byte order, each on its own line, as few escapes as possible, floats as in Erlang. Signatures are
// made over that spelling, whatever the spelling of the file.

#include <map>
#include <span>

#include "reprise/error.h"
#include "reprise/types.h"

namespace reprise::store {
struct PreservedText;
}

namespace reprise::store::sessions {

// Appends a quoted string. Invalid UTF-8 becomes U+FFFD.
void append_string(std::string& out, std::string_view text);
std::string quoted_string(std::string_view text);

// The shortest digits that parse as the same number, always with a decimal point: "0.7", "1.05e-4",
// "100.0", "1.0e3". `number` must be finite.
std::string float_text(double number);

// The value as that program would write it after reading it; lines after the first are indented by
// `depth` additional levels. Of duplicate members, the last one is used. Objects of more than 32
// members are not sorted: an Erlang map of that size has an order of its own, which is that of the
// files it wrote. corrupt if it is not JSON, unsupported beyond json::indented_bytes_max().
Result<std::string> formatted(std::string_view json, int depth = 0);

class Members {
 public:
  // The object's members are at depth `depth`.
  explicit Members(int depth) : depth_(depth) {}

  // `json` is already formatted for that depth.
  void raw(std::string_view name, std::string json);
  void text(std::string_view name, std::string_view text);
  // Formats the value; the spelling and order of its members are preserved.
  void extra(const ExtraField& field);

  const std::string* find(std::string_view name) const;   // nullptr if there is none
  void replace(std::string_view name, std::string json);  // the member must exist
  // All members by name; the first one of duplicates. Valid until the next change.
  std::map<std::string_view, std::string_view> texts() const;
  // Replaces unchanged members by their original bytes in the file, at "PLACE/NAME". Returns how
  // many.
  int restore(const std::vector<PreservedText>& preserved, std::string_view position);
  struct Member {
    std::string name;
    std::string json;
  };
  // In byte order.
  const std::vector<Member>& sorted();

  // The whole object.
  std::string object();

 private:
  int depth_;
  std::vector<Member> members_;
};

// The fields that can be written as members: those whose names are neither taken nor repeated.
Extra extra_members(const Extra& fields, std::span<const std::string_view> written_names);

// The original spelling of the parts of a file; they must outlive the object.
class PreservedTexts {
 public:
  explicit PreservedTexts(const std::vector<PreservedText>& preserved);
  // The original bytes at `position` if `json` would be written now; nullptr if they are equal, or
  // if the part has changed.
  const std::string* find(std::string_view position, std::string_view json) const;

 private:
  std::map<std::pair<std::string_view, std::string_view>, const std::string*> parts_;
};

// Appends "\n" and two blanks per level.
void append_line(std::string& out, int depth);

}  // namespace reprise::store::sessions
