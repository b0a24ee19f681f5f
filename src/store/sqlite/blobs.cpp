#include "store/sqlite/blobs.h"

#include <algorithm>

#include "base/encode.h"
#include "reprise/capabilities.h"
#include "reprise/environment.h"
#include "reprise/store.h"
#include "store/rules.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/database.h"
#include "store/sqlite/original.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/sqlite_store.h"

namespace reprise::sqlite {
namespace {

// Never 0, which marks a released blob.
std::int64_t put_time(Clock& clock) {
  return std::max<std::int64_t>(1, microseconds_of(clock.now()));
}

Result<> pin(Connection& connection, const BlobHash& hash, Clock& clock) {
  return connection.run(
      "INSERT INTO reprise_pins(hash, put_us) VALUES(?, ?)"
      " ON CONFLICT(hash) DO UPDATE SET put_us = excluded.put_us",
      hash.str(), put_time(clock));
}

Result<> put(Connection& connection, Clock& clock, const BlobHash& hash, std::string_view bytes) {
  REPRISE_TRY(pin(connection, hash, clock));
  REPRISE_TRY(collect_blobs(connection, clock));
  REPRISE_ASSIGN(
      const std::int64_t exists,
      connection.integer("SELECT 1 FROM reprise_blobs WHERE hash = ? AND n = 0", hash.str()));
  if (exists != 0) {
    return {};
  }
  std::int64_t n = 0;
  return each_piece(bytes, [&](std::string_view piece) {
    // An interrupted purge may have left some pieces.
    return connection.run("INSERT OR IGNORE INTO reprise_blobs(hash, n, bytes) VALUES(?, ?, ?)",
                          hash.str(), n++, Blob{piece});
  });
}

Result<std::optional<std::string>> find_piece(Database& database, const BlobHash& hash,
                                              std::int64_t n) {
  using Piece = std::optional<std::string>;
  return database.read([&](const Database::Reader& reader) -> Result<Piece> {
    REPRISE_ASSIGN(
        Statement row,
        reader->query("SELECT bytes FROM reprise_blobs WHERE hash = ? AND n = ?", hash.str(), n));
    REPRISE_ASSIGN(const bool found, row.step());
    return found ? Piece(row.bytes("bytes")) : std::nullopt;
  });
}

Result<std::optional<std::string>> find_result_piece(Database& database, std::string_view row,
                                                     std::int64_t n) {
  constexpr auto kBytes = static_cast<std::int64_t>(kPieceMax);
  return database.read([&](const Database::Reader& reader) {
    return ResultBlobs::piece(*reader, row, n * kBytes, kBytes);
  });
}

}  // namespace

std::int64_t pinned_since_us(Clock& clock) {
  return microseconds_of(clock.now() - kBlobPinned);
}

Result<> release_blobs(Connection& connection, const SessionId& id, Clock& clock) {
  return connection.run(
      "INSERT INTO reprise_pins(hash, put_us) SELECT hash, 0 FROM reprise_blob_refs"
      " WHERE session_id = ?1"
      " ON CONFLICT(hash) DO UPDATE SET put_us = 0 WHERE put_us < ?2",
      id.str(), pinned_since_us(clock));
}

Result<> collect_blobs(Connection& connection, Clock& clock) {
  REPRISE_ASSIGN(
      const auto hashes,
      connection.texts("SELECT hash FROM reprise_pins WHERE put_us = 0 UNION ALL"
                       " SELECT hash FROM (SELECT hash FROM reprise_pins WHERE put_us > 0"
                       " AND put_us < ? ORDER BY put_us LIMIT ?)",
                       pinned_since_us(clock), store::kBlobsCollectedMax));
  for (const std::string& hash : hashes) {
    REPRISE_TRY(
        connection.run("DELETE FROM reprise_blobs WHERE hash = ?1"
                       " AND NOT EXISTS (SELECT 1 FROM reprise_blob_refs AS r WHERE r.hash = ?1)",
                       hash));
    REPRISE_TRY(connection.run("DELETE FROM reprise_pins WHERE hash = ?", hash));
  }
  return {};
}

Result<std::int64_t> count_unreferenced_blobs(Connection& connection) {
  return connection.integer(
      "SELECT count(*) FROM reprise_pins AS p WHERE NOT EXISTS"
      " (SELECT 1 FROM reprise_blob_refs AS r WHERE r.hash = p.hash)");
}

Result<BlobHash> SqliteStore::put_blob(std::string_view bytes) {
  REPRISE_ASSIGN(BlobHash hash, sha256(bytes));
  REPRISE_TRY(database_.write(Durability::disk, [&](Connection& connection) {
    return put(connection, database_.clock(), hash, bytes);
  }));
  return hash;
}

Result<> SqliteStore::read_blob(const BlobHash& hash,
                                const std::function<Flow(std::string_view)>& sink) {
  REPRISE_ASSIGN(const auto first, find_piece(database_, hash, 0));
  std::optional<std::string> row;
  if (!first) {
    REPRISE_ASSIGN(row, database_.read([&](const Database::Reader& reader) {
      return result_blobs_.find(*reader, hash);
    }));
  }
  const auto find = [&](std::int64_t n) {
    return row ? find_result_piece(database_, *row, n) : find_piece(database_, hash, n);
  };
  return store::read_blob(hash, find, sink);
}

}  // namespace reprise::sqlite
