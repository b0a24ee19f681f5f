#pragma once

// The validation of context files by the program that defined the format.

#include <string>
#include <string_view>
#include <vector>

namespace reprise::test {

struct OriginalEntry {
  std::string role;
  std::string content;
};

struct OriginalFile {
  std::string refusal;  // "" if it is accepted
  std::vector<OriginalEntry> conversation;
};

// One JSON object with `conversation`, a list of {role, content, timestamp} whose role is system,
// user or assistant and whose content is not empty, and `meta` with a number of turns. Its history
// is pruned by pairs, so each question must be directly followed by its answer, except the last
// one.
OriginalFile load_as_original(std::string_view bytes);

}  // namespace reprise::test
