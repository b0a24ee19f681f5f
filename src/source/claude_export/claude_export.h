#pragma once

// What claude.ai sends to who asks for his data: conversations.json, an array of conversations.

#include "reprise/open_store.h"

namespace reprise::source {

Result<bool> is_claude_export(const std::filesystem::path& place);
// The zip, its folder or the JSON file.
Result<std::unique_ptr<Source>> open_claude_export(const std::filesystem::path& place,
                                                   const StoreOptions& options);

}  // namespace reprise::source
