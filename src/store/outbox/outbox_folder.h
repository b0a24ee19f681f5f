#pragma once

// The folder with outbox files: one for each conversation of each process, so that no two write to
// the same one. Whoever writes a file or brings it in holds its lock, which ends with the process.

#include <memory>

#include "base/file.h"
#include "reprise/outbox.h"

namespace reprise::store::outbox {

// Nothing is created before there is something to keep: then a file (0600) in that folder (0700),
// which stays locked for as long as the object lives, and is removed by all_stored().
std::unique_ptr<Outbox> make_outbox_file(std::filesystem::path folder, std::string store);

// Those that have not been brought in, the oldest first. Empty when there is no such folder.
Result<std::vector<std::filesystem::path>> find_outboxes(const std::filesystem::path& folder);

// Keeps others from bringing the same file in. nullopt: its writer is still there, or somebody else
// brings it in.
Result<std::optional<Fd>> lock_outbox(const std::filesystem::path& file);

// From then on it has ".stored" at its end, and find_outboxes() leaves it out. conflict when there
// is such a file.
Result<> mark_as_stored(const std::filesystem::path& file);

}  // namespace reprise::store::outbox
