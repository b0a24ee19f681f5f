#pragma once

// Blobs, stored in pieces, and their garbage collection.

#include <cstddef>

#include "reprise/environment.h"
#include "store/sqlite/connection.h"

namespace reprise::sqlite {

inline constexpr std::size_t kPieceMax = std::size_t{1} << 18;

// Calls `store` with pieces of at most kPieceMax; with one empty piece if `bytes` is empty.
template <class Store>
Result<> each_piece(std::string_view bytes, Store store) {
  std::size_t at = 0;
  do {
    REPRISE_TRY(store(bytes.substr(at, kPieceMax)));
    at += kPieceMax;
  } while (at < bytes.size());
  return {};
}

// All functions run inside the caller's transaction.

// Pins of blobs put before this time have expired.
std::int64_t pinned_since_us(Clock& clock);
// Called before a session and its retained ones are deleted: releases the blobs that they
// reference, unless they are pinned.
Result<> release_blobs(Connection& connection, const SessionId& id, Clock& clock);
// Removes blobs that no message references and that were not put within kBlobPinned: all released
// ones, and a bounded number of others. Referenced blobs cost nothing.
Result<> collect_blobs(Connection& connection, Clock& clock);
// The number of unreferenced blobs that are not due for removal yet.
Result<std::int64_t> count_unreferenced_blobs(Connection& connection);

}  // namespace reprise::sqlite
