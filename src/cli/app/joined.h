#pragma once

// Characters of several parts (joined emoji, flags, skin tones), which ncurses cannot carry: it
// shows their first part, and they are written over that afterwards.

#include <map>

#include "cli/app/screen.h"  // IWYU pragma: export

namespace reprise::cli::app {

// For each row that has such characters, what puts them there: ANSI sequences that move the cursor
// and change attributes. A terminal that does not join the parts writes further than it should, so
// the cells behind are written anew; where there is no room for that, the first part stays.
std::map<std::size_t, std::string> joined_rows(const Screen& screen, bool colours);

}  // namespace reprise::cli::app
