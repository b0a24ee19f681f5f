#pragma once

// "30d", "12h", "2w".

#include <chrono>
#include <optional>
#include <string_view>

namespace reprise::cli {

// nullopt for anything else, and for more than 1,000 years.
std::optional<std::chrono::hours> parse_duration(std::string_view text);

}  // namespace reprise::cli
