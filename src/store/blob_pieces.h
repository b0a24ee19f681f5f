#pragma once

// Blobs that a store keeps in pieces.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "reprise/error.h"
#include "reprise/store.h"
#include "reprise/types.h"

namespace reprise::store {

// As Blobs::read_blob(). `find` returns a blob's piece by its number, from 0 on; nullopt after the
// last one.
using FindPiece = std::function<Result<std::optional<std::string>>(std::int64_t number)>;
Result<> read_blob(const BlobHash& hash, const FindPiece& find,
                   const std::function<Flow(std::string_view)>& sink);

}  // namespace reprise::store
