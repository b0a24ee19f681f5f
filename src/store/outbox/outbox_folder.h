#pragma once

// The folder with outbox files: one for each conversation of each process, so that no file has two
// writers. The writer of a file, and whoever imports it, holds its lock, which ends with the
// process.

#include <memory>

#include "base/file.h"
#include "reprise/outbox.h"

namespace reprise::store::outbox {

// Creates nothing until there is something to store: then a file (mode 0600) in that folder (mode
// 0700), which stays locked during the lifetime of the object, and is removed by all_stored().
std::unique_ptr<Outbox> make_outbox_file(std::filesystem::path folder, std::string store);

// The files not imported yet, oldest first. Empty if the folder does not exist.
Result<std::vector<std::filesystem::path>> find_outboxes(const std::filesystem::path& folder);

// Prevents others from importing the same file. nullopt if its writer is alive, or if another
// process is importing it.
Result<std::optional<Fd>> lock_outbox(const std::filesystem::path& file);

// Appends ".stored" to its name; find_outboxes() omits such files. conflict if the new name exists.
Result<> mark_as_stored(const std::filesystem::path& file);

}  // namespace reprise::store::outbox
