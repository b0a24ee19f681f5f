#pragma once

// The text of a running answer, beside the file of its session: appended piece by piece, because
// writing the whole session anew for each would cost too much. That the answer runs at all is said
// by the session's own file; pieces of another answer are left over from one that has ended.
//
// One JSON object a line: {"answer":"NAME","blocks":[…]}, or {"answer":"NAME","lease":{…}} when the
// answer's process has renewed its lease; the last one counts. A line that was cut is left out.

#include <filesystem>
#include <span>

#include "reprise/session.h"

namespace reprise::store {

// Durability::os. Pieces of other answers go.
Result<> add_partial(const std::filesystem::path& file, const OperationId& answer,
                     std::span<const Block> delta);

// The same for the lease of this answer.
Result<> add_lease(const std::filesystem::path& file, const OperationId& answer,
                   const Lease& lease);

// As it was renewed last; nullopt when it was not.
Result<std::optional<Lease>> read_lease(const std::filesystem::path& file,
                                        const OperationId& answer);

// What has come so far; nothing when there is no such file.
Result<std::vector<Block>> read_partial(const std::filesystem::path& file,
                                        const OperationId& answer);

// Fine when there is none.
Result<> remove_partial(const std::filesystem::path& file);

}  // namespace reprise::store
