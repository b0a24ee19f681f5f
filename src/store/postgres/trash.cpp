// The trash, and the blobs, which are collected when a session is purged.

#include "base/encode.h"
#include "base/text.h"
#include "reprise/capabilities.h"
#include "reprise/environment.h"
#include "store/postgres/connection.h"
#include "store/postgres/database.h"
#include "store/postgres/postgres_store.h"
#include "store/postgres/rows.h"
#include "store/postgres/sessions.h"
#include "store/postgres/statements.h"
#include "store/postgres/values.h"
#include "store/postgres/words.h"
#include "store/rules.h"

namespace reprise::postgres {
namespace {

Result<> check_unshared(Connection& connection, const Key& key) {
  REPRISE_ASSIGN(const Rows rows, connection.run_one({kFindSharing, values_of(key)}));
  std::vector<std::string> sharing;
  sharing.reserve(static_cast<std::size_t>(rows.count()));
  for (int row = 0; row < rows.count(); ++row) {
    sharing.emplace_back(rows.bytes(row, "session_id"));
  }
  return store::check_unshared(key.id, sharing);
}

// Adds statements that examine a bounded number of blobs, and remove those that are unreferenced
// and were not put within kBlobPinned.
void collect_blobs(std::vector<Query>& queries, const Database& database) {
  const std::int64_t before = microseconds_of(database.clock().now() - kBlobPinned);
  for (const std::string_view statement : {kDeleteUnreferencedBlobs, kSettleReferencedBlobs}) {
    queries.push_back({statement, values(database.tenant(), before, store::kBlobsCollectedMax)});
  }
}

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
  return connection.execute(queries);
}

Result<std::optional<std::string>> find_part(Database& database, const BlobHash& hash,
                                             std::int64_t part) {
  REPRISE_ASSIGN(const Rows rows,
                 database.read_one({kFindBlobPart, values(database.tenant(), hash.str(), part)}));
  return rows.empty() ? std::nullopt : std::optional(rows.text(0, "bytes"));
}

}  // namespace

Result<> PostgresStore::trash(const SessionId& id, Time when) {
  const std::int64_t trashed = state_number(SessionState::trashed);
  return database_.write([&](Connection& connection, bool) -> Result<> {
    const Key key{database_.tenant(), id};
    REPRISE_TRY(lock_session(connection, key));
    return connection.execute({{kTrashSession, values_of(key, microseconds_of(when), trashed)},
                               {kSetState, values_of(key, trashed)},
                               {kCommit}});
  });
}

Result<> PostgresStore::restore(const SessionId& id) {
  return database_.write([&](Connection& connection, bool is_unsure) -> Result<> {
    const Key key{database_.tenant(), id};
    REPRISE_ASSIGN(const Locked locked, lock_session(connection, key));
    if (locked.state != SessionState::trashed) {
      if (!is_unsure) {
        return fail(Code::invalid_argument, cat("session ", id.str(), " is not in the trash"));
      }
      return connection.execute({{kCommit}});
    }
    return connection.execute(
        {{kRestoreHead, values_of(key)}, {kRestoreSession, values_of(key)}, {kCommit}});
  });
}

Result<> PostgresStore::purge(const SessionId& id) {
  const std::int64_t before = microseconds_of(database_.clock().now() - kBlobPinned);
  return database_.write([&](Connection& connection, bool is_unsure) -> Result<> {
    const Key key{database_.tenant(), id};
    if (const auto locked = lock_session(connection, key); !locked) {
      const bool is_gone = is_unsure && locked.error().code == Code::not_found;
      return is_gone ? Result<>() : std::unexpected(locked.error());
    }
    REPRISE_TRY(check_unshared(connection, key));
    std::vector<Query> queries = {
        {kDoubtBlobsOfSession, values_of(key, database_.client())},
        {kDeleteBlobsOfSession, values_of(key, before)},
    };
    for (const std::string_view statement : kPurge) {
      queries.push_back({statement, values_of(key)});
    }
    if (database_.has_word_index()) {
      for (const std::string_view statement : kPurgeWords) {
        queries.push_back({statement, values_of(key)});
      }
    }
    collect_blobs(queries, database_);
    queries.push_back({kCommit});
    return connection.execute(queries);
  });
}

Result<std::vector<Remnant>> PostgresStore::remnants() {
  REPRISE_ASSIGN(const Rows rows,
                 database_.read_one({kCountUnnamedBlobs, values(database_.tenant())}));
  const std::int64_t unnamed = rows.integer(0, "unnamed");
  std::vector<Remnant> found;
  if (unnamed > 0) {
    found.push_back(store::unreferenced_blobs(database_.name(), unnamed));
  }
  return found;
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
