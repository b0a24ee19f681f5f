#pragma once

// Whether a message's tool calls name a file.

#include <string_view>

#include "reprise/message.h"

namespace reprise::search {

// `file` as in SearchQuery, `folder` is the session's. Every word of a call's arguments is looked
// at, also those in a shell command, which are separated by blanks, quotes and operators.
bool names_file(const Message& message, std::string_view file, std::string_view folder);

}  // namespace reprise::search
