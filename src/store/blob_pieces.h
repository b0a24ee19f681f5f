#pragma once

// Blobs that a store keeps in pieces, and when those that no message names go.

#include "reprise/capabilities.h"

namespace reprise::store {

// How many blobs whose pins are over a purge or a put looks at.
inline constexpr std::int64_t kBlobsCollectedMax = 64;

// What is said of so many blobs that no message names, in the store that is called `where`.
Remnant unnamed_blobs(std::string where, std::int64_t count);

// As Blobs::read_blob(). `find` returns a blob's piece by its number, from 0 on; nullopt after the
// last one.
using FindPiece = std::function<Result<std::optional<std::string>>(std::int64_t number)>;
Result<> read_blob(const BlobHash& hash, const FindPiece& find,
                   const std::function<Flow(std::string_view)>& sink);

}  // namespace reprise::store
