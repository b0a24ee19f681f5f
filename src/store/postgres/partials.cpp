#include <chrono>

#include "reprise/capabilities.h"
#include "store/postgres/connection.h"
#include "store/postgres/database.h"
#include "store/postgres/postgres_store.h"
#include "store/postgres/rows.h"
#include "store/postgres/running_answers.h"
#include "store/postgres/sessions.h"
#include "store/postgres/statements.h"
#include "store/postgres/values.h"
#include "store/rules.h"
#include "store/stored_json.h"

namespace reprise::postgres {
namespace {

struct Delta {
  Piece piece;
  std::vector<std::string> blobs = {};
};

Delta make_delta(std::span<const Block> blocks) {
  Delta delta{.piece = {.name = operation_name()}};
  const std::vector<Block> all(blocks.begin(), blocks.end());
  delta.piece.bodies = pieces_of(blocks_to_json(all));
  for (const BlobHash& hash : store::blobs_in(all)) {
    delta.blobs.emplace_back(hash.str());
  }
  return delta;
}

void insert_piece(std::vector<Query>& queries, std::string_view statement, const Key& key,
                  const std::string& answer, const Piece& piece) {
  std::int64_t part = 0;
  for (const std::string& body : piece.bodies) {
    queries.push_back({statement, values_of(key, answer, piece.name, ++part, body, piece.n)});
  }
}

// Writes lost pieces between two existing ones again.
Result<> restore_pieces(Database& database, const Key& key, const std::string& answer,
                        const std::vector<Piece>& pieces) {
  std::vector<Query> queries;
  for (const Piece& piece : pieces) {
    insert_piece(queries, kRestoreDelta, key, answer, piece);
  }
  if (!queries.empty()) {
    REPRISE_TRY(database.write_unsynced(key.id, std::move(queries)));
  }
  return {};
}

// Succeeds for a piece that was stored by an attempt with an unknown outcome.
Result<> add_delta(Database& database, const Key& key, const OperationId& answer, Delta delta) {
  RunningAnswers& running = database.running_answers();
  Piece& piece = delta.piece;
  piece.n = running.last(key, answer.str());
  std::vector<Query> queries = {{kLockAnswer, values_of(key, answer.str())}};
  insert_piece(queries, kInsertDelta, key, answer.str(), piece);
  for (const std::string& hash : delta.blobs) {
    queries.push_back({kInsertBlobRefOfAnswer, values_of(key, answer.str(), hash)});
  }
  REPRISE_ASSIGN(const auto rows, database.write_unsynced(key.id, std::move(queries)));
  if (rows.empty()) {
    return {};
  }
  if (rows[1].empty()) {
    running.forget(key, answer.str());
    REPRISE_TRY(
        database.read([&key](Connection& connection) { return require_session(connection, key); }));
    return std::unexpected(store::answer_not_running(key.id, answer));
  }
  const std::int64_t stored = rows[0].integer(0, "last");
  piece.n = rows[1].integer(0, "n");
  const auto lost = running.between(key, answer.str(), stored, piece.n);
  running.add(key, answer.str(), std::move(piece));
  return restore_pieces(database, key, answer.str(), lost);
}

Result<std::string> read_start(Connection& connection, const Key& key, const OperationId& answer) {
  REPRISE_ASSIGN(const Rows head, connection.run_one({kFindAnswer, values_of(key)}));
  if (head.empty()) {
    return std::unexpected(store::no_session(key.id));
  }
  if (head.is_null(0, "answer") || head.bytes(0, "answer") != answer.str()) {
    return std::unexpected(store::answer_not_running(key.id, answer));
  }
  return head.text(0, "answer_start");
}

// Only the answer's own process changes the start, so it is read only once.
Result<> renew(Database& database, const Key& key, const OperationId& answer, const Lease& lease) {
  RunningAnswers& running = database.running_answers();
  auto start = running.start(key, answer.str());
  if (!start) {
    REPRISE_ASSIGN(start, database.read([&](Connection& connection) {
      return read_start(connection, key, answer);
    }));
  }
  REPRISE_ASSIGN(Partial partial, store::answer_from_json(*start));
  partial.owner.lease = lease;
  start = store::answer_to_json(store::start_of(partial));
  REPRISE_ASSIGN(
      const auto renewed,
      database.write_unsynced(key.id, {{kRenewAnswer, values_of(key, answer.str(), *start)}}));
  if (renewed.front().empty()) {
    running.forget(key, answer.str());
    REPRISE_TRY(
        database.read([&key](Connection& connection) { return require_session(connection, key); }));
    return std::unexpected(store::answer_not_running(key.id, answer));
  }
  running.set_start(key, answer.str(), *std::move(start));
  return {};
}

Result<std::optional<Partial>> find_partial(Connection& connection, const Key& key) {
  REPRISE_ASSIGN(const auto rows, connection.run({{kBeginSnapshot},
                                                  {kFindAnswer, values_of(key)},
                                                  {kFindDeltas, values_of(key)},
                                                  {kCommit}}));
  const Rows& head = rows[1];
  if (head.empty()) {
    return std::unexpected(store::no_session(key.id));
  }
  if (head.is_null(0, "answer")) {
    return std::nullopt;
  }
  REPRISE_ASSIGN(Partial partial, store::answer_from_json(head.bytes(0, "answer_start")));
  const Rows& deltas = rows[2];
  std::int64_t last = 0;
  for (int row = 0; row < deltas.count();) {
    // Pieces after a gap caused by a crash of the server are not shown.
    const std::int64_t n = deltas.integer(row, "n");
    if (n > last + 1) {
      break;
    }
    last = n;
    const std::string_view piece = deltas.bytes(row, "piece");
    std::string body;
    for (; row < deltas.count() && deltas.bytes(row, "piece") == piece; ++row) {
      body += deltas.bytes(row, "body");
    }
    REPRISE_ASSIGN(const auto blocks, blocks_from_json(body));
    store::append_delta(partial.blocks, blocks);
  }
  return partial;
}

}  // namespace

std::chrono::milliseconds PostgresStore::partial_interval() const {
  return database_.partial_interval();
}

Result<> PostgresStore::add_partial(const SessionId& id, const OperationId& answer,
                                    std::span<const Block> delta) {
  return add_delta(database_, key(id), answer, make_delta(delta));
}

Result<> PostgresStore::renew_lease(const SessionId& id, const OperationId& answer,
                                    const Lease& lease) {
  return renew(database_, key(id), answer, lease);
}

Result<std::optional<Partial>> PostgresStore::find_partial(const SessionId& id) {
  return database_.read([&](Connection& connection) {
    return postgres::find_partial(connection, {database_.tenant(), id});
  });
}

}  // namespace reprise::postgres
