#pragma once

// zstd compression. The library is loaded at the first call.

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "reprise/error.h"

namespace reprise {

// One frame; the unchanged bytes if that would not be smaller, or zstd is not installed.
std::string zstd_packed(std::string_view bytes);

bool is_zstd_frame(std::string_view bytes);

// Decompresses the frames that `read` returns, piece by piece. corrupt for malformed or truncated
// frames, after writing what was readable. unsupported, naming the package, when zstd is not
// installed.
using ZstdRead = std::function<Result<std::size_t>(std::span<char> into)>;  // 0 at the end
using ZstdWrite = std::function<Result<>(std::string_view bytes)>;
Result<> zstd_unpack(const ZstdRead& read, const ZstdWrite& write);

// Decompresses frames; other bytes are returned unchanged.
Result<std::string> zstd_unpacked(std::string_view bytes);

}  // namespace reprise
