#pragma once

// Bytes that are compressed by zstd, which is loaded at the first call.

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "reprise/error.h"

namespace reprise {

// One frame; the bytes as they are where it would not be smaller, or zstd is not installed.
std::string zstd_packed(std::string_view bytes);

bool is_zstd_frame(std::string_view bytes);

// Unpacks the frames that `read` gives, piece by piece. corrupt for what is none, or was cut: what
// came before has been written then. unsupported, naming the package, where zstd is not installed.
using ZstdRead = std::function<Result<std::size_t>(std::span<char> into)>;  // 0 at the end
using ZstdWrite = std::function<Result<>(std::string_view bytes)>;
Result<> zstd_unpack(const ZstdRead& read, const ZstdWrite& write);

// The bytes of frames, or bytes that are none as they are.
Result<std::string> zstd_unpacked(std::string_view bytes);

}  // namespace reprise
