#pragma once

// Outbox files (docs/formats/outbox.md): one for each conversation of each process, so that no file
// has two writers. The writer of a file, and whoever imports it, holds its lock, which ends with
// the process.

#include <memory>

#include "base/file.h"
#include "reprise/outbox.h"

namespace reprise::store::outbox {

// Creates nothing until there is something to store: then a file (mode 0600) in that folder (mode
// 0700), which stays locked during the lifetime of the object, and is removed by clear().
std::unique_ptr<Outbox> make_outbox_file(std::filesystem::path folder, std::string store);

// The files not imported yet, oldest first. Empty if the folder does not exist.
Result<std::vector<std::filesystem::path>> find_outboxes(const std::filesystem::path& folder);

// Prevents others from importing the same file. nullopt if its writer is alive, or if another
// process is importing it.
Result<std::optional<Fd>> lock_outbox(const std::filesystem::path& file);

// Appends ".stored" to its name; find_outboxes() omits such files. conflict if the new name exists.
Result<> mark_as_stored(const std::filesystem::path& file);

// The first two lines, including their line ends.
std::string head_lines(const Session& session, const SessionId& fork, std::string_view store);
std::string step_line(const OutboxStep& step);

// An incomplete line at the end of the file was never acknowledged and is ignored. not_found;
// corrupt, naming the line, for other malformed lines; unsupported for a newer version.
Result<OutboxSession> read_outbox(const std::filesystem::path& file);

// The store's URL in the file's first line, without reading further; nullopt if there is none.
std::optional<std::string> store_of_outbox(const std::filesystem::path& file);

}  // namespace reprise::store::outbox
