#pragma once

// What the program that context files come from asks of one before it goes on with it.

#include <string>
#include <string_view>
#include <vector>

namespace reprise::test {

struct OriginalEntry {
  std::string role;
  std::string content;
};

struct OriginalFile {
  std::string refusal;  // "" when it is accepted
  std::vector<OriginalEntry> conversation;
};

// One JSON object with `conversation`, a list of {role, content, timestamp} whose role is system,
// user or assistant and whose content has words, and `meta` with a number of turns. Its history is
// pruned by pairs, so that each question is directly followed by its answer; only the last may be
// without one.
OriginalFile load_as_original(std::string_view bytes);

}  // namespace reprise::test
