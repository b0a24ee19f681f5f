#pragma once

// What the web page of llama.cpp's server exports: one conversation as a tree, or an array of them.

#include "reprise/open_store.h"

namespace reprise::source {

Result<bool> is_llamacpp(const std::filesystem::path& place);
Result<std::unique_ptr<Source>> open_llamacpp(const std::filesystem::path& place,
                                              const StoreOptions& options);

}  // namespace reprise::source
