#pragma once

// The lines of an outbox (docs/formats/outbox.md).

#include <filesystem>

#include "reprise/outbox.h"

namespace reprise::store::outbox {

// The first two lines, including their line ends.
std::string head_lines(const Session& session, const SessionId& fork, std::string_view store);
std::string step_line(const OutboxStep& step);

// An incomplete line at the end of the file was never acknowledged and is ignored. not_found;
// corrupt, naming the line, for other malformed lines; unsupported for a newer version.
Result<OutboxSession> read_outbox(const std::filesystem::path& file);

// The store's URL in the file's first line, without reading further; nullopt if there is none.
std::optional<std::string> store_of_outbox(const std::filesystem::path& file);

}  // namespace reprise::store::outbox
