#pragma once

// Large bytes in pieces, and which of them may go.

#include <cstddef>

#include "reprise/environment.h"
#include "store/sqlite/connection.h"

namespace reprise::sqlite {

inline constexpr std::size_t kPieceMax = std::size_t{1} << 18;

// `bytes` in pieces of at most kPieceMax; one empty piece for none.
template <class Store>
Result<> each_piece(std::string_view bytes, Store store) {
  std::size_t at = 0;
  do {
    REPRISE_TRY(store(bytes.substr(at, kPieceMax)));
    at += kPieceMax;
  } while (at < bytes.size());
  return {};
}

// All inside the caller's transaction.

// Before a session goes, with what is kept for it: what only it names may go with it.
Result<> release_blobs(Connection& connection, const SessionId& id);
// Removes what no message names and nobody has put for kBlobPinned: all that was released, and a
// bounded number of others. Costs nothing for what is named.
Result<> collect_blobs(Connection& connection, Clock& clock);
// Blobs that no message names and that are not yet to go.
Result<std::int64_t> count_unnamed_blobs(Connection& connection);

}  // namespace reprise::sqlite
