#include "store/postgres/blobs.h"

#include "base/encode.h"
#include "reprise/capabilities.h"
#include "reprise/environment.h"
#include "store/blob_pieces.h"
#include "store/postgres/auxiliary_statements.h"
#include "store/postgres/connection.h"
#include "store/postgres/database.h"
#include "store/postgres/postgres_store.h"
#include "store/postgres/rows.h"
#include "store/postgres/statements.h"
#include "store/postgres/values.h"

namespace reprise::postgres {
namespace {

Result<> put(Connection& connection, Database& database, const BlobHash& hash,
             std::string_view bytes) {
  const std::string& tenant = database.tenant();
  const std::string& client = database.client();
  const std::int64_t now = microseconds_of(database.clock().now());
  REPRISE_ASSIGN(const Rows touched,
                 connection.run_one({kTouchBlob, values(tenant, hash.str(), now, client)}));
  if (!touched.empty()) {
    return {};
  }
  std::vector<Query> queries = {{kBegin}};
  std::int64_t part = 0;
  for (const std::string& piece : pieces_of(bytes)) {
    queries.push_back({kInsertBlobPart, values(tenant, hash.str(), part++, piece, now, client)});
  }
  collect_blobs(queries, database);
  queries.push_back({kCommit});
  REPRISE_TRY(connection.run(queries));
  return {};
}

Result<std::optional<std::string>> find_part(Database& database, const BlobHash& hash,
                                             std::int64_t part) {
  return database.read_for<std::optional<std::string>>(
      [&](Connection& connection) -> Result<std::optional<std::string>> {
        REPRISE_ASSIGN(
            const Rows rows,
            connection.run_one({kFindBlobPart, values(database.tenant(), hash.str(), part)}));
        return rows.empty() ? std::nullopt : std::optional(rows.text(0, "bytes"));
      });
}

}  // namespace

void collect_blobs(std::vector<Query>& queries, const Database& database) {
  const std::int64_t before = microseconds_of(database.clock().now() - kBlobPinned);
  for (const std::string_view statement : {kDeleteUnnamedBlobs, kSettleNamedBlobs}) {
    queries.push_back({statement, values(database.tenant(), before, store::kBlobsCollectedMax)});
  }
}

Result<BlobHash> PostgresStore::put_blob(std::string_view bytes) {
  REPRISE_ASSIGN(BlobHash hash, sha256(bytes));
  REPRISE_TRY(database_.write(
      [&](Connection& connection, bool) { return put(connection, database_, hash, bytes); }));
  return hash;
}

Result<> PostgresStore::read_blob(const BlobHash& hash,
                                  const std::function<Flow(std::string_view)>& sink) {
  return store::read_blob(
      hash, [&](std::int64_t part) { return find_part(database_, hash, part); }, sink);
}

}  // namespace reprise::postgres
