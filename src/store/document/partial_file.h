#pragma once

// The text of a running answer, in a file beside that of its session. It is appended in pieces,
// because rewriting the whole session for each one would cost too much. The session's own file
// records that the answer is running; pieces of other answers are left over from earlier ones.
//
// One JSON object per line: {"answer":"NAME","blocks":[…]}, or {"answer":"NAME","lease":{…}} when
// the answer's process has renewed its lease; the last lease counts. An incomplete line is ignored.

#include <filesystem>
#include <span>

#include "reprise/message.h"
#include "reprise/session.h"

namespace reprise::store {

// Appends a piece, with Durability::os. Removes pieces of other answers.
Result<> add_partial(const std::filesystem::path& file, const OperationId& answer,
                     std::span<const Block> delta);

// The same for the lease of this answer.
Result<> add_lease(const std::filesystem::path& file, const OperationId& answer,
                   const Lease& lease);

// The latest renewal; nullopt if there was none.
Result<std::optional<Lease>> read_lease(const std::filesystem::path& file,
                                        const OperationId& answer);

// The text so far; empty if the file does not exist.
Result<std::vector<Block>> read_partial(const std::filesystem::path& file,
                                        const OperationId& answer);

// Succeeds if the file does not exist.
Result<> remove_partial(const std::filesystem::path& file);

}  // namespace reprise::store
