#pragma once

// Characters of several parts (joined emoji, flags, skin tones). ncurses cannot store them: it
// displays their first part, and they are written over it afterwards.

#include <map>

#include "cli/app/screen.h"  // IWYU pragma: export

namespace reprise::cli::app {

// For each row with such characters, the ANSI sequences that write them: cursor movements and
// attributes. A terminal that does not join the parts writes too many columns, so the following
// cells are rewritten; where there is no room for that, only the first part is shown.
std::map<std::size_t, std::string> joined_rows(const Screen& screen, bool colours);

}  // namespace reprise::cli::app
