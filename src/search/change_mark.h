#pragma once

// Whether a store was written to, told by the times of its files.

#include <string>
#include <string_view>

namespace reprise::search {

// Equal marks of "sqlite:FILE", and nothing was written to it in between, by whatever program. ""
// when that cannot be told: for all other URLs, and while the last change has just been made.
std::string change_mark(std::string_view url);

}  // namespace reprise::search
