#pragma once

// Text files that a person attaches to a question: blocks of their own, which say where they are
// from.

#include "reprise/message.h"

namespace reprise {

// "File NAME:", a blank line, and the bytes.
TextBlock attached_text(std::string_view name, std::string_view bytes);

// The name of the file that was attached as this block; nullopt for other blocks.
std::optional<std::string> attached_name(const Block& block);

}  // namespace reprise
