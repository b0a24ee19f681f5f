#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace reprise::rel {

// In the payloads that are sequences: no program of ours writes it.
inline constexpr std::string_view kNobodysNumber = "31337";
// In every text, and in every title.
inline constexpr std::string_view kHarmless = "harmless";

// Makes a store in the folder that is whole, with what a terminal would obey wherever there can be
// a text; its URL. Throws when it cannot.
std::string put_hostile_texts(unsigned number, const std::filesystem::path& folder);

}  // namespace reprise::rel
