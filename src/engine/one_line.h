#pragma once

// Text of any origin on one line without control characters.

#include <string>
#include <string_view>

namespace reprise {

// Controls and runs of blanks become one blank; bytes that are not UTF-8 become U+FFFD.
std::string one_line(std::string_view text);

}  // namespace reprise
