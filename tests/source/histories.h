#pragma once

// A history of each tool, for tests of all sources.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::test {

// A tool's folder in one of its layouts.
struct History {
  std::string_view name;    // "opencode folder"
  std::string_view source;  // the name of the source
  // Writes a session of `exchanges` questions and answers, and beside it a short one wherever the
  // layout has another place for sessions.
  void (*write)(const std::filesystem::path& folder, int exchanges);
};

const std::vector<History>& histories();

// Writes a session of Claude Code: `count` messages, and as many others that each follow the last
// of these. If those messages are abandoned, one more has no parent.
void write_branches(const std::filesystem::path& folder, int count, bool is_abandoned);

}  // namespace reprise::test
