#pragma once

// llm's logs.db: conversations of responses, and since 0.32 threads of messages.

#include "reprise/open_store.h"

namespace reprise::source {

Result<bool> is_llm(const std::filesystem::path& place);
// Its folder, or the database.
Result<std::unique_ptr<Source>> open_llm(const std::filesystem::path& place,
                                         const StoreOptions& options);

}  // namespace reprise::source
