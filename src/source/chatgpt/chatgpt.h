#pragma once

// What ChatGPT sends to who asks for his data: a zip with conversations.json, which is an array of
// trees, and the files that belong to them.

#include "reprise/open_store.h"

namespace reprise::source {

Result<bool> is_chatgpt(const std::filesystem::path& place);
// The zip, its folder or the JSON file.
Result<std::unique_ptr<Source>> open_chatgpt(const std::filesystem::path& place,
                                             const StoreOptions& options);

}  // namespace reprise::source
