#pragma once

// Reduces arbitrary text to one line without control characters.

#include <string>
#include <string_view>

namespace reprise {

// Controls and runs of blanks become one blank; invalid UTF-8 becomes U+FFFD.
std::string one_line(std::string_view text);

}  // namespace reprise
