#include <memory>
#include <string>
#include <string_view>

#include "base/text.h"
#include "reprise/environment.h"
#include "reprise/error.h"
#include "reprise/store.h"
#include "reprise/store_offers.h"
#include "reprise/types.h"
#include "store/sqlite/blobs.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/database.h"
#include "store/sqlite/offers.h"
#include "store/sqlite/original.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/sessions.h"

namespace reprise::sqlite {
namespace {

// Those that share messages of the session or of what is kept for it.
Result<> check_unshared(Connection& connection, const SessionId& id) {
  REPRISE_ASSIGN(
      Statement row,
      connection.query(
          "SELECT DISTINCT coalesce(kept_for, id) FROM sessions WHERE kept_for IS NOT ?1"
          " AND (base = ?1 OR base IN (SELECT id FROM sessions WHERE kept_for = ?1)) LIMIT 10",
          id.str()));
  std::string names;
  while (true) {
    REPRISE_ASSIGN(const bool more, row.step());
    if (!more) {
      break;
    }
    names += cat(names.empty() ? "" : ", ", row.text(0));
  }
  if (!names.empty()) {
    return fail(Code::conflict, cat("session ", id.str(), " shares its messages with ", names,
                                    ": purge those first"));
  }
  return {};
}

// Forks that the original program made hold copies of the messages, and name the session's large
// results in them.
Result<> check_unnamed(Connection& connection, const SessionId& id) {
  REPRISE_ASSIGN(const bool has_results, has_table(connection, kResultBlobsTable));
  if (!has_results) {
    return {};
  }
  REPRISE_ASSIGN(Statement row,
                 connection.query("SELECT id FROM sessions AS s WHERE forked_from = ?1 AND"
                                  " base IS NULL AND kept_for IS NULL AND EXISTS (SELECT 1 FROM"
                                  " messages AS m WHERE m.session_id = s.id AND created_us IS NULL)"
                                  " ORDER BY id LIMIT 10",
                                  id.str()));
  std::string forks;
  while (true) {
    REPRISE_ASSIGN(const bool more, row.step());
    if (!more) {
      break;
    }
    forks += cat(forks.empty() ? "" : ", ", row.text(0));
  }
  if (!forks.empty()) {
    return fail(Code::conflict, cat("session ", id.str(), " is needed by its forks ", forks,
                                    ": purge those first"));
  }
  return {};
}

Result<> delete_session(Connection& connection, const SessionId& id, Clock& clock) {
  REPRISE_TRY(ensure_pins(connection, clock));
  REPRISE_TRY(release_blobs(connection, id));
  for (const std::string_view table : {kResultBlobsTable, kSnapshotsTable}) {
    REPRISE_ASSIGN(const bool is_there, has_table(connection, table));
    if (is_there) {
      REPRISE_TRY(
          connection.run(cat("DELETE FROM main.", table, " WHERE session_id = ?"), id.str()));
    }
  }
  // All else that is the session's goes with it, by its foreign keys.
  REPRISE_TRY(connection.run("DELETE FROM sessions WHERE id = ?", id.str()));
  return collect_blobs(connection, clock);
}

class SqliteTrash final : public Trash {
 public:
  explicit SqliteTrash(Database& database) : database_(database) {}

  Result<> trash(const SessionId& id, Time when) override {
    return database_.make_room([&](Connection& connection) -> Result<> {
      REPRISE_TRY(require_session(connection, id));
      return connection.run(
          "UPDATE sessions SET state_before_trash = state, state = 'trashed', trashed_us = ?"
          " WHERE id = ? AND state <> 'trashed'",
          microseconds_of(when), id.str());
    });
  }

  Result<> restore(const SessionId& id) override {
    return database_.write(Durability::disk, [&](Connection& connection) -> Result<> {
      REPRISE_TRY(require_session(connection, id));
      REPRISE_TRY(
          connection.run("UPDATE sessions SET state = state_before_trash, state_before_trash = '',"
                         " trashed_us = NULL WHERE id = ? AND state = 'trashed'",
                         id.str()));
      if (connection.changes() == 0) {
        return fail(Code::invalid_argument, cat("session ", id.str(), " is not in the trash"));
      }
      return {};
    });
  }

  Result<> purge(const SessionId& id) override {
    return database_.make_room([&](Connection& connection) -> Result<> {
      REPRISE_TRY(require_session(connection, id));
      REPRISE_TRY(check_unshared(connection, id));
      REPRISE_TRY(check_unnamed(connection, id));
      return delete_session(connection, id, database_.clock());
    });
  }

 private:
  Database& database_;
};

}  // namespace

std::unique_ptr<Trash> make_trash(Database& database) {
  return std::make_unique<SqliteTrash>(database);
}

}  // namespace reprise::sqlite
