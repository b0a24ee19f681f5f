#include "reprise/capabilities.h"
#include "reprise/store.h"
#include "store/rules.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/database.h"
#include "store/sqlite/sessions.h"
#include "store/sqlite/sqlite_store.h"
#include "store/stored_json.h"

namespace reprise::sqlite {
namespace {

Result<std::optional<Partial>> find_partial(Connection& connection, const SessionId& id) {
  REPRISE_TRY(require_session(connection, id));
  REPRISE_ASSIGN(Statement row,
                 connection.query(
                     "SELECT body FROM reprise_answers WHERE session_id = ? ORDER BY n", id.str()));
  std::optional<Partial> partial;
  REPRISE_TRY(row.each([&]() -> Result<> {
    if (!partial) {
      REPRISE_ASSIGN(partial, store::answer_from_json(row.bytes("body")));
      return {};
    }
    REPRISE_ASSIGN(const auto delta, blocks_from_json(row.bytes("body")));
    store::append_delta(partial->blocks, delta);
    return {};
  }));
  return partial;
}

// The running answer without its blocks; conflict if it is not running.
Result<Partial> running_answer(Connection& connection, const SessionId& id,
                               const OperationId& answer) {
  REPRISE_TRY(require_session(connection, id));
  REPRISE_ASSIGN(Statement first,
                 connection.query("SELECT body FROM reprise_answers WHERE session_id = ? AND n = 0",
                                  id.str()));
  REPRISE_ASSIGN(const bool running, first.step());
  auto partial = running ? store::answer_from_json(first.bytes("body"))
                         : Result<Partial>(fail(Code::conflict, "no answer is running"));
  if (!partial || partial->answer != answer) {
    return std::unexpected(store::answer_not_running(id, answer));
  }
  return partial;
}

Result<> renew_lease(Connection& connection, const SessionId& id, const OperationId& answer,
                     const Lease& lease) {
  REPRISE_ASSIGN(Partial partial, running_answer(connection, id, answer));
  partial.owner.lease = lease;
  const std::string body = store::answer_to_json(store::start_of(partial));
  return connection.run("UPDATE reprise_answers SET body = ? WHERE session_id = ? AND n = 0", body,
                        id.str());
}

Result<> add_piece(Connection& connection, const SessionId& id, const OperationId& answer,
                   const std::vector<Block>& delta, const std::string& body) {
  REPRISE_TRY(running_answer(connection, id, answer));
  REPRISE_TRY(
      connection.run("INSERT INTO reprise_answers(session_id, n, body) VALUES(?1,"
                     " (SELECT max(n) + 1 FROM reprise_answers WHERE session_id = ?1), ?2)",
                     id.str(), body));
  return reference_blobs(connection, id, delta);
}

}  // namespace

Result<> SqliteStore::add_partial(const SessionId& id, const OperationId& answer,
                                  std::span<const Block> delta) {
  const std::vector<Block> blocks(delta.begin(), delta.end());
  const std::string body = blocks_to_json(blocks);
  return database_.write(Durability::os, [&](Connection& connection) {
    return add_piece(connection, id, answer, blocks, body);
  });
}

Result<> SqliteStore::renew_lease(const SessionId& id, const OperationId& answer,
                                  const Lease& lease) {
  return database_.write(Durability::os, [&](Connection& connection) {
    return sqlite::renew_lease(connection, id, answer, lease);
  });
}

Result<std::optional<Partial>> SqliteStore::find_partial(const SessionId& id) {
  return database_.read(
      [&](const Database::Reader& reader) { return sqlite::find_partial(*reader, id); });
}

}  // namespace reprise::sqlite
