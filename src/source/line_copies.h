#pragma once

// Forks of tools that copy a session's lines into a file beside it, without a reference: files in
// one folder that begin with the same message.

#include "source/transcript.h"

namespace reprise::source {

// Sessions that begin with the same message.
struct LineCopies {
  std::vector<Located> sessions;
  // The one that each was copied from, which may be none.
  std::vector<std::optional<CopiedFrom>> copied_from;
};

// Reads all of them as a whole, and leaves out those that cannot be read. Of two sessions, the one
// without messages of its own was copied; if both have some, the fork is the one that continued
// first, since the other one's would have been copied, too.
LineCopies find_line_copies(const JsonlTool& tool, std::vector<Located> sessions);

}  // namespace reprise::source
