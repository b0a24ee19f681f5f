#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace reprise::rel {

// A number in the escape sequences of the payloads, which our program never writes.
inline constexpr std::string_view kNobodysNumber = "31337";
// In every text, and in every title.
inline constexpr std::string_view kHarmless = "harmless";

// Creates an intact store in the folder, with escape sequences in all of its texts; returns its
// URL. Throws if it fails.
std::string put_hostile_texts(unsigned number, const std::filesystem::path& folder);

}  // namespace reprise::rel
