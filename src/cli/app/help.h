#pragma once

// What /help and F1 say.

#include <cstddef>
#include <string>

namespace reprise::cli::app {

// The commands and the keys, each on a line or a few; as tables where there is room for them.
std::string app_help(std::size_t columns);

}  // namespace reprise::cli::app
