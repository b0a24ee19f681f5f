#pragma once

// Gemini CLI: tmp/<project>/chats/session-<time>-<id>.jsonl, lines that add messages, set them anew
// and take them back; older ones are one JSON object in a .json file.

#include "reprise/open_store.h"

namespace reprise::source {

Result<bool> is_gemini(const std::filesystem::path& place);
// `place` is its folder, one below it, or one file.
Result<std::unique_ptr<Source>> open_gemini(const std::filesystem::path& place,
                                            const StoreOptions& options);

}  // namespace reprise::source
