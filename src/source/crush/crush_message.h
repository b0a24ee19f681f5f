#pragma once

// Parses crush's messages.

#include "source/tool_source.h"
#include "source/values.h"

namespace reprise::source::crush {

// `parts` is an array of {type, data}.
Message message_of(std::string_view role, JsonView parts);
std::string question_of(std::string_view role, JsonView parts);

}  // namespace reprise::source::crush
