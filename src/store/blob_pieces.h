#pragma once

// Blobs that a store divides into pieces, and the collection of unreferenced blobs.

#include "reprise/capabilities.h"

namespace reprise::store {

// The number of blobs with expired pins that one purge or put examines.
inline constexpr std::int64_t kBlobsCollectedMax = 64;

// The report about `count` unreferenced blobs in the store named `where`.
Remnant unnamed_blobs(std::string where, std::int64_t count);

// Like Blobs::read_blob(). `find` returns the piece with the given number, from 0; nullopt after
// the last one.
using FindPiece = std::function<Result<std::optional<std::string>>(std::int64_t number)>;
Result<> read_blob(const BlobHash& hash, const FindPiece& find,
                   const std::function<Flow(std::string_view)>& sink);

}  // namespace reprise::store
