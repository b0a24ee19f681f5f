#pragma once

// The lines of an outbox (docs/formats/outbox.md).

#include <filesystem>

#include "reprise/outbox.h"

namespace reprise::store::outbox {

// The first two lines, with their line ends.
std::string head_lines(const Session& session, const SessionId& aside, std::string_view store);
std::string step_line(const OutboxStep& step);

// A line that was cut at the end of the file was never acknowledged, and is left out. not_found;
// corrupt, naming the line, for all else that cannot be read; unsupported for a newer version.
Result<OutboxSession> read_outbox(const std::filesystem::path& file);

// The store's URL in a file's first line, read without the rest; nullopt when there is none.
std::optional<std::string> store_of_outbox(const std::filesystem::path& file);

}  // namespace reprise::store::outbox
