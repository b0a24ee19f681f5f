#pragma once

// goose: sessions.db; before 1.10 a JSONL file for each session.

#include "reprise/open_store.h"

namespace reprise::source {

Result<bool> is_goose(const std::filesystem::path& place);
// The folder of its sessions, the database, or one JSONL file.
Result<std::unique_ptr<Source>> open_goose(const std::filesystem::path& place,
                                           const StoreOptions& options);

}  // namespace reprise::source
