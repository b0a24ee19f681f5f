#pragma once

// The text of /help and F1.

#include <cstddef>
#include <string>

namespace reprise::cli::app {

// The commands and keys; as tables if there is room for them.
std::string app_help(std::size_t columns);

}  // namespace reprise::cli::app
