
#include "reprise/capabilities.h"
#include "store/delta.h"
#include "store/postgres/connection.h"
#include "store/postgres/database.h"
#include "store/postgres/postgres_store.h"
#include "store/postgres/rows.h"
#include "store/postgres/server_error.h"
#include "store/postgres/sessions.h"
#include "store/postgres/statements.h"
#include "store/postgres/values.h"
#include "store/rules.h"
#include "store/stored_json.h"

namespace reprise::postgres {
namespace {

struct Delta {
  const OperationId& answer;
  std::string piece;  // its name
  Integers places = {};
  ByteStrings bodies = {};
  ByteStrings blobs = {};
};

Delta make_delta(const OperationId& answer, std::span<const Block> blocks) {
  Delta delta{.answer = answer, .piece = operation_name()};
  const std::vector<Block> all(blocks.begin(), blocks.end());
  for (std::string& body : pieces_of(blocks_to_json(all))) {
    delta.bodies.emplace_back(std::move(body));
    delta.places.push_back(static_cast<std::int64_t>(delta.bodies.size()));
  }
  for (const BlobHash& hash : store::blobs_in(all)) {
    delta.blobs.emplace_back(hash.str());
  }
  return delta;
}

// A piece that was stored before, by an attempt that was not answered, is stored.
Result<> add_delta(Connection& connection, const Key& key, const Delta& delta) {
  const std::string& answer = delta.answer.str();
  std::vector<Query> queries = {
      {kAddDelta, values_of(key, answer, delta.piece, delta.places, delta.bodies)}};
  if (!delta.blobs.empty()) {
    queries.push_back({kInsertBlobRefsOfAnswer, values_of(key, answer, delta.blobs)});
  }
  const auto rows = connection.run(queries);
  if (!rows) {
    return connection.failure().sqlstate == kDuplicateKey ? Result<>()
                                                          : std::unexpected(rows.error());
  }
  if (rows->front().integer(0, "added") == 0) {
    REPRISE_TRY(require_session(connection, key));
    return std::unexpected(store::answer_not_running(key.id, delta.answer));
  }
  return {};
}

// The start is only changed by the one whose answer it is.
Result<> renew_lease(Connection& connection, const Key& key, const OperationId& answer,
                     const Lease& lease) {
  REPRISE_ASSIGN(const auto found, connection.run({{kFindAnswer, values_of(key)}}));
  const Rows& head = found.front();
  if (head.empty()) {
    return std::unexpected(store::no_session(key.id));
  }
  if (head.is_null(0, "answer") || head.bytes(0, "answer") != answer.str()) {
    return std::unexpected(store::answer_not_running(key.id, answer));
  }
  REPRISE_ASSIGN(Partial partial, store::answer_from_json(head.bytes(0, "answer_start")));
  partial.owner.lease = lease;
  const std::string start = store::answer_to_json(
      {std::move(partial.answer), std::move(partial.owner), std::move(partial.provider),
       std::move(partial.model), partial.started_at});
  REPRISE_ASSIGN(const auto renewed,
                 connection.run({{kRenewAnswer, values_of(key, answer.str(), start)}}));
  if (renewed.front().integer(0, "renewed") == 0) {
    return std::unexpected(store::answer_not_running(key.id, answer));
  }
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
  for (int row = 0; row < deltas.count();) {
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

Result<> PostgresStore::add_partial(const SessionId& id, const OperationId& answer,
                                    std::span<const Block> delta) {
  const Delta made = make_delta(answer, delta);
  return database_.write([&](Connection& connection, bool) {
    return add_delta(connection, {database_.tenant(), id}, made);
  });
}

Result<> PostgresStore::renew_lease(const SessionId& id, const OperationId& answer,
                                    const Lease& lease) {
  return database_.write([&](Connection& connection, bool) {
    return postgres::renew_lease(connection, {database_.tenant(), id}, answer, lease);
  });
}

Result<std::optional<Partial>> PostgresStore::find_partial(const SessionId& id) {
  return database_.read_for<std::optional<Partial>>([&](Connection& connection) {
    return postgres::find_partial(connection, {database_.tenant(), id});
  });
}

}  // namespace reprise::postgres
