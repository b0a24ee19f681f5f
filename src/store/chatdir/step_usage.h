#pragma once

// The tokens that a chat has used, as its steps write them down: usage.json.

#include <filesystem>
#include <string>
#include <string_view>

#include "reprise/message.h"

namespace reprise::store::chatdir {

std::string step_usage_to_json(const Usage& usage);

// What cannot be read counts nothing.
Usage step_usage_from_json(std::string_view json);

// Of all steps in a chat's folder.
Usage usage_of_steps(const std::filesystem::path& chat);

}  // namespace reprise::store::chatdir
