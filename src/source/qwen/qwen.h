#pragma once

// Qwen Code: projects/<folder>/chats/<session>.jsonl, a tree of lines with Gemini's content.

#include "reprise/open_store.h"

namespace reprise::source {

Result<bool> is_qwen(const std::filesystem::path& place);
// `place` is its folder, one below it, or one file.
Result<std::unique_ptr<Source>> open_qwen(const std::filesystem::path& place,
                                          const StoreOptions& options);

}  // namespace reprise::source
