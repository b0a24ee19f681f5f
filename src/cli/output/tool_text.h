#pragma once

// The input of a tool call on one line, so that a user sees what a tool would do: what it works on
// (a path, a command) comes first, and no value is so long that another one scrolls away.

#include <cstddef>
#include <string>
#include <string_view>

namespace reprise::cli {

// For a question, about half of a small terminal.
inline constexpr std::size_t kInputAsked = 640;

// In about `columns`. Of names that occur twice, the last one is shown, which is the one that
// counts. Characters that a terminal does not show are escapes. Text that is not a JSON object,
// such as the beginning of one, is cut.
std::string tool_input_line(std::string_view input, std::size_t columns);

}  // namespace reprise::cli
