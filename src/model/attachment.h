#pragma once

// Text files attached to a question: separate blocks that include the file name.

#include "reprise/message.h"

namespace reprise {

// "File NAME:", a blank line, and the bytes.
TextBlock attached_text(std::string_view name, std::string_view bytes);

// The name of the attached file; nullopt for other blocks.
std::optional<std::string> attached_name(const Block& block);

// plain_text() without attached files; their names if there is nothing else.
std::string question_text(const Message& question);

}  // namespace reprise
