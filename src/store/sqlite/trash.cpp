#include "base/file.h"
#include "base/text.h"
#include "reprise/capabilities.h"
#include "reprise/store.h"
#include "store/paths.h"
#include "store/rules.h"
#include "store/sqlite/blobs.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/database.h"
#include "store/sqlite/original.h"
#include "store/sqlite/purge.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/sessions.h"
#include "store/sqlite/sqlite_store.h"

namespace reprise::sqlite {
namespace {

// conflict if other sessions share messages of the session or of its retained ones.
Result<> check_unshared(Connection& connection, const SessionId& id) {
  REPRISE_ASSIGN(const auto names,
                 connection.texts(
                     "SELECT id AS name FROM sessions WHERE id <> ?1 AND (base = ?1"
                     " OR base IN (SELECT id FROM reprise_kept WHERE kept_for = ?1))"
                     " UNION SELECT kept_for FROM reprise_kept WHERE kept_for <> ?1 AND (base = ?1"
                     " OR base IN (SELECT id FROM reprise_kept WHERE kept_for = ?1)) LIMIT 10",
                     id.str()));
  return store::check_unshared(id, names);
}

// Forks by the original program copy the messages, including their references to the session's
// large results.
Result<> check_unreferenced(Connection& connection, const SessionId& id) {
  REPRISE_ASSIGN(const bool has_results, has_table(connection, kResultBlobsTable));
  if (!has_results) {
    return {};
  }
  REPRISE_ASSIGN(const auto forks,
                 connection.texts("SELECT id FROM sessions AS s WHERE forked_from = ?1 AND"
                                  " base IS NULL AND EXISTS (SELECT 1 FROM"
                                  " messages AS m WHERE m.session_id = s.id AND created_us IS NULL)"
                                  " ORDER BY id LIMIT 10",
                                  id.str()));
  return store::check_unshared(id, forks);
}

// Finds the copies beside the database from before migrations.
Result<> find_copies(const std::filesystem::path& file, std::vector<Remnant>& found) {
  REPRISE_ASSIGN(const auto entries, store::list_folder(folder_of(file)));
  const std::string begin = cat(file.filename().native(), ".v");
  for (const auto& entry : entries) {
    const std::string name = entry.path().filename();
    if (name.starts_with(begin) && name.ends_with(".bak")) {
      found.push_back({entry.path(), "the database as it was before an upgrade: remove it"});
    }
  }
  return {};
}

Result<> check_purge(Connection& connection, const SessionId& id) {
  REPRISE_TRY(require_session(connection, id));
  REPRISE_TRY(check_unshared(connection, id));
  return check_unreferenced(connection, id);
}

// The log of each step is checkpointed before the next one; the database does not grow.
Result<> purge_in_steps(Database& database, const SessionId& id) {
  PurgeSteps steps(id, database.clock());
  (void)database.truncate_wal(std::chrono::milliseconds(0));
  const auto hide = [&](Connection& connection) -> Result<> {
    REPRISE_TRY(check_purge(connection, id));
    return steps.hide(connection);
  };
  REPRISE_TRY(database.write(Durability::disk, hide));
  for (bool has_more = true; has_more;) {
    (void)database.truncate_wal(std::chrono::milliseconds(0));
    REPRISE_ASSIGN(has_more, database.write(Durability::disk, [&](Connection& connection) {
      return steps.step(connection);
    }));
  }
  (void)database.truncate_wal(std::chrono::milliseconds(0));
  return database.write(Durability::disk, [&](Connection& connection) {
    return delete_session(connection, id, database.clock());
  });
}

}  // namespace

Result<> SqliteStore::trash(const SessionId& id, Time when) {
  return database_.delete_with_reserve([&](Connection& connection) -> Result<> {
    REPRISE_TRY(require_session(connection, id));
    return connection.run(
        "UPDATE sessions SET state_before_trash = state, state = 'trashed', trashed_us = ?"
        " WHERE id = ? AND state <> 'trashed'",
        microseconds_of(when), id.str());
  });
}

Result<> SqliteStore::restore(const SessionId& id) {
  return database_.write(Durability::disk, [&](Connection& connection) -> Result<> {
    REPRISE_TRY(require_session(connection, id));
    REPRISE_ASSIGN(
        Statement row,
        connection.query("SELECT state, state_before_trash FROM sessions WHERE id = ?", id.str()));
    REPRISE_ASSIGN(const bool found, row.step());
    if (!found || row.bytes("state") != "trashed") {
      return std::unexpected(store::not_in_trash(id));
    }
    if (row.bytes("state_before_trash") == "trashed") {
      return fail(Code::conflict, cat("session ", id.str(), " is partly removed: purge it again"));
    }
    return connection.run(
        "UPDATE sessions SET state = state_before_trash, state_before_trash = '',"
        " trashed_us = NULL WHERE id = ?",
        id.str());
  });
}

Result<> SqliteStore::purge(const SessionId& id) {
  const auto delete_all = [&](Connection& connection) -> Result<> {
    REPRISE_TRY(check_purge(connection, id));
    REPRISE_TRY(delete_session(connection, id, database_.clock()));
    return collect_blobs(connection, database_.clock());
  };
  auto done =
      database_.delete_with_reserve(delete_all, [&] { return purge_in_steps(database_, id); });
  // The database or its log still has the text, also that of a session whose purge was killed after
  // its last commit. The purge succeeds even if the log cannot be truncated now.
  if (done || done.error().code == Code::not_found) {
    (void)database_.truncate_wal(std::chrono::milliseconds(0));
  }
  return done;
}

Result<std::vector<Remnant>> SqliteStore::remnants() {
  constexpr std::chrono::milliseconds kCheckpointTimeout{500};
  std::vector<Remnant> found;
  REPRISE_ASSIGN(const bool is_empty, database_.truncate_wal(kCheckpointTimeout));
  if (!is_empty) {
    found.push_back({store::beside(database_.file(), "-wal"),
                     "another program is reading: end it, then delete another session or close"
                     " the last program that has the store open"});
  }
  REPRISE_TRY(find_copies(database_.file(), found));
  REPRISE_ASSIGN(const std::int64_t unreferenced,
                 database_.read([](const Database::Reader& reader) {
                   return count_unreferenced_blobs(*reader);
                 }));
  if (unreferenced > 0) {
    found.push_back(store::unreferenced_blobs(database_.file(), unreferenced));
  }
  return found;
}

}  // namespace reprise::sqlite
