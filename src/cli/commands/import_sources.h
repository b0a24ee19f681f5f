#pragma once

// The histories of other tools that `reprise import` finds or is given.

#include "cli/program/context.h"  // IWYU pragma: export
#include "reprise/open_source.h"  // IWYU pragma: export
#include "reprise/sessions.h"     // IWYU pragma: export

namespace reprise::cli {

// A history and its sessions.
struct FoundSource {
  const SourceKind* kind = nullptr;
  std::filesystem::path path;
  std::unique_ptr<Source> source = nullptr;  // null while there is none
  FoundSessions listed = {};
  std::string error = {};  // why it cannot be listed now

  // All that the history is in.
  std::vector<std::filesystem::path> files() const;
  std::int64_t bytes() const;
  std::int64_t messages() const;
  bool has_exact_counts() const;
  Time newest() const;
};

// The histories of all tools in their default locations, including those that are empty or missing.
std::vector<FoundSource> find_import_sources(Context& context);

// The histories with these URLs or paths.
Result<std::vector<FoundSource>> open_import_sources(Context& context,
                                                     const std::vector<std::string>& urls);

// Lists the sessions again, of a history that is new, too. Warns if it cannot be read, once for
// each reason; it then has no sessions.
void list_again(Context& context, FoundSource& found);

}  // namespace reprise::cli
