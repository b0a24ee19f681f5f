#pragma once

// The files that `copilot sessions import` takes: a line with the session's metadata, then
// messages, tool calls after the answer that made them, and their results.

#include "source/transcript.h"  // IWYU pragma: export

namespace reprise::source::copilot {

// Whether it is the first line of such a file.
bool is_import_line(JsonView line);
// Takes a line, if it is one of such a file; returns whether it is.
bool take_import_line(const Record& record, std::size_t part, Transcript& into);
Message message_of_import(std::span<const Piece> pieces);

}  // namespace reprise::source::copilot
