#pragma once

// A mode: a named way to start a session.

#include <filesystem>  // IWYU pragma: export
#include <functional>  // IWYU pragma: export
#include <stop_token>  // IWYU pragma: export
#include <vector>      // IWYU pragma: export

#include "reprise/error.h"  // IWYU pragma: export

namespace reprise {

enum class PathPolicy : std::uint8_t { none, optional, required };

struct Mode {
  std::string name;
  std::string system;
  std::string model;                 // "" for the default one
  std::vector<std::string> context;  // "file:PATH", "glob:PATTERN", "cmd:COMMAND LINE"
  PathPolicy path = PathPolicy::none;
};

inline constexpr std::int64_t kContextBytesMax = 4 << 20;

struct ContextObserver {
  std::function<void(std::string_view)> on_note = {};     // a line for each file and command
  std::function<void(std::string_view)> on_warning = {};  // what is left out
};

// The system prompt of a session that starts in this mode: `system`, then each context item under
// its own heading. Paths and commands are relative to `folder`; links below it are not followed: a
// linked file is an error, a linked match of a pattern is left out with a warning. not_found, io or
// timeout (30 s for a command) for an item that cannot be loaded, invalid_argument for an unknown
// kind or more than kContextBytesMax in total, cancelled.
Result<std::string> load_context(const Mode& mode, const std::filesystem::path& folder,
                                 const ContextObserver& observer = {}, std::stop_token stop = {});

}  // namespace reprise
