#pragma once

// Detects writes to a store by the modification times of its files.

#include <string>
#include <string_view>

namespace reprise::search {

// Equal tokens of "sqlite:FILE" mean that no program has written to it in between. "" when this
// cannot be determined: for all other URLs, and shortly after a change.
std::string change_token(std::string_view url);

}  // namespace reprise::search
