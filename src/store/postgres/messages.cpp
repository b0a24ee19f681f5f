#include "store/postgres/messages.h"

#include <iterator>

#include "base/text.h"
#include "model/known_time.h"
#include "reprise/store.h"
#include "store/postgres/connection.h"
#include "store/postgres/rows.h"
#include "store/postgres/server_error.h"
#include "store/postgres/sessions.h"
#include "store/postgres/statements.h"
#include "store/postgres/values.h"
#include "store/rules.h"

namespace reprise::postgres {
namespace {

void add_content(Batch& batch, const Message& message) {
  std::vector<std::string> pieces = pieces_of(blocks_to_json(message.blocks));
  for (std::size_t part = 1; part < pieces.size(); ++part) {
    batch.parts.push_back({batch.size(), static_cast<std::int64_t>(part), std::move(pieces[part])});
  }
  batch.more.push_back(static_cast<std::int64_t>(pieces.size()) - 1);
  batch.contents.emplace_back(std::move(pieces.front()));
}

Result<> add_request(Batch& batch, const Message& message) {
  if (!message.usage) {
    return {};
  }
  std::string name;
  if (!message.usage->request_id.empty()) {
    REPRISE_ASSIGN(const std::string key, index_key(message.usage->request_id));
    name = store::once_name_of_request(key);
  }
  batch.requests.push_back({std::move(name), *message.usage});
  return {};
}

// The server has all contents in one statement, and passes them on in another form.
constexpr std::size_t kCallBytesMax = std::size_t{1} << 20;

// For distributed tables, in two round trips. nullopt if it cannot be done directly: it was already
// done, or is not allowed in the current state.
Result<std::optional<AppendResult>> append_in_two_round_trips(Connection& connection,
                                                              const Key& key, const Batch& batch) {
  const Counted append{key, batch, {}};
  REPRISE_ASSIGN(
      const auto results,
      connection.run({{kBegin}, {kLimitSilence}, move_query(append, HeadCheck::in_query)}));
  const Rows& moved = results.back();
  if (moved.empty()) {
    REPRISE_TRY(connection.run_one({kRollback}));
    return std::nullopt;
  }
  std::vector<Query> queries = insert_queries(append, moved);
  queries.push_back({kCommit});
  if (const auto rows = connection.run(queries); !rows) {
    if (connection.failure().sqlstate != kDuplicateKey) {
      return std::unexpected(rows.error());
    }
    if (!connection.is_idle()) {
      REPRISE_TRY(connection.run_one({kRollback}));
    }
    return std::nullopt;
  }
  return store::appended_at(Seq{moved.integer(0, "first_seq")}, batch.roles.size());
}

// The same in one round trip.
Result<std::optional<AppendResult>> append_in_one_round_trip(Connection& connection, const Key& key,
                                                             const Batch& batch) {
  const Counted append{key, batch, {}};
  const bool is_call = batch.is_for_function();
  std::vector<Query> queries = is_call ? std::vector<Query>() : dependent_queries(append);
  const bool is_alone = queries.empty();
  queries.insert(queries.begin(),
                 is_call ? call_query(append) : append_query(append, HeadCheck::in_query));
  if (!is_alone) {
    queries.insert(queries.begin(), {kBegin});
    queries.push_back({kCommit});
  }
  const auto rows = connection.run(queries);
  if (!rows) {
    if (is_call && connection.failure().sqlstate == kNoFunction) {
      // It was removed after the store was opened.
      return append_in_two_round_trips(connection, key, batch);
    }
    if (connection.failure().sqlstate != kDuplicateKey) {
      return std::unexpected(rows.error());
    }
    if (!connection.is_idle()) {
      REPRISE_TRY(connection.run_one({kRollback}));
    }
    return std::nullopt;
  }
  const Rows& moved = (*rows)[is_alone ? 0 : 1];
  return moved.empty() || moved.is_null(0, "first_seq")
             ? std::nullopt
             : std::optional(
                   store::appended_at(Seq{moved.integer(0, "first_seq")}, batch.roles.size()));
}

// The locked session, whether the batch was already appended, and which requests were counted.
struct LockedState {
  Locked session;
  std::optional<AppendResult> done;
  Names counted;
};
Result<LockedState> lock_for_append(Connection& connection, const Key& key, const Batch& batch,
                                    bool is_unsure) {
  ByteStrings names;
  for (const Batch::Request& request : batch.requests) {
    names.emplace_back(request.name);
  }
  LockedState state;
  REPRISE_ASSIGN(state.session, lock_session(connection, key,
                                             {{kFindOnce, values_of(key, batch.operation)},
                                              {kFindRequests, values_of(key, names)}}));
  if (const Rows& done = state.session.rows[0]; !done.empty()) {
    state.done =
        AppendResult{Seq{done.integer(0, "first_seq")}, Seq{done.integer(0, "head")}, !is_unsure};
  }
  const Rows& requests = state.session.rows[1];
  for (int i = 0; i < requests.count(); ++i) {
    state.counted.insert(requests.text(i, "name"));
  }
  return state;
}

Result<> check_batch(const Key& key, const Locked& state, Seq from, const Batch& batch) {
  return store::check_append({.id = key.id, .head = state.head, .answer = state.answer}, from,
                             batch.roles.size(), batch.options);
}

Error changed_while_locked(const Key& key) {
  return {Code::corrupt, cat("session ", key.id.str(), " changed although it was locked")};
}

// Completes the transaction with the batch.
Result<AppendResult> append_and_commit(Connection& connection, const Counted& append,
                                       std::vector<Query> before = {}) {
  const auto& [key, batch, counted] = append;
  const std::size_t append_at = before.size();
  std::vector<Query> queries = std::move(before);
  queries.push_back(batch.engine.is_distributed ? move_query(append, HeadCheck::done)
                                                : append_query(append, HeadCheck::done));
  if (batch.engine.is_distributed) {
    REPRISE_ASSIGN(const auto moved, connection.run(queries));
    if (moved[append_at].empty()) {
      return std::unexpected(changed_while_locked(key));
    }
    queries = insert_queries(append, moved[append_at]);
    queries.push_back({kCommit});
    REPRISE_TRY(connection.run(queries));
    return store::appended_at(Seq{moved[append_at].integer(0, "first_seq")}, batch.roles.size());
  }
  auto dependent = dependent_queries(append);
  queries.insert(queries.end(), std::make_move_iterator(dependent.begin()),
                 std::make_move_iterator(dependent.end()));
  queries.push_back({kCommit});
  REPRISE_ASSIGN(const auto rows, connection.run(queries));
  if (rows[append_at].empty()) {
    return std::unexpected(changed_while_locked(key));
  }
  return store::appended_at(Seq{rows[append_at].integer(0, "first_seq")}, batch.roles.size());
}

}  // namespace

Result<Batch> make_batch(const std::vector<Message>& messages, const AppendOptions& options,
                         const Engine& engine) {
  Batch batch{
      .options = options,
      .engine = engine,
      .operation = options.operation ? store::once_name(*options.operation) : operation_name()};
  Activity times;
  note_activity(times, messages, options.now);
  batch.ahead = times.arrived_at ? std::optional(microseconds_of(times.updated_at)) : std::nullopt;
  exchange_activity(times);
  batch.activity = microseconds_of(times.updated_at);
  for (const Message& message : messages) {
    add_content(batch, message);
    REPRISE_TRY(add_request(batch, message));
    batch.roles.emplace_back(message.role);
    batch.details.push_back(detail_of(message));
    batch.authors.push_back(message.author ? std::optional(message.author->str()) : std::nullopt);
    batch.has_author = batch.has_author || message.author;
    batch.times.push_back(microseconds_of(message.created_at));
    batch.positions.push_back(batch.size());
    for (const BlobHash& hash : store::blobs_in(message.blocks)) {
      batch.blobs.emplace_back(hash.str());
    }
  }
  return batch;
}

bool Batch::is_for_function() const {
  std::size_t bytes = 0;
  for (const ByteStrings* const strings : {&contents, &details}) {
    for (const auto& string : *strings) {
      bytes += string ? string->size() : 0;
    }
  }
  return engine.has_append_function && parts.empty() && blobs.empty() && !ahead &&
         bytes <= kCallBytesMax;
}

Result<AppendResult> append_messages(Connection& connection, const Key& key, const Batch& batch,
                                     bool is_unsure) {
  if (!is_unsure) {
    REPRISE_ASSIGN(const auto appended, batch.engine.is_distributed && !batch.is_for_function()
                                            ? append_in_two_round_trips(connection, key, batch)
                                            : append_in_one_round_trip(connection, key, batch));
    if (appended) {
      return *appended;
    }
  }
  REPRISE_ASSIGN(const LockedState state, lock_for_append(connection, key, batch, is_unsure));
  if (state.done) {
    // The commit makes everything before it as durable as itself.
    REPRISE_TRY(connection.run_one({kCommit}));
    return *state.done;
  }
  REPRISE_TRY(check_batch(key, state.session, state.session.head, batch));
  return append_and_commit(connection, {key, batch, state.counted});
}

Result<AppendResult> replace_messages(Connection& connection, const Key& key,
                                      const Replacement& replacement, bool is_unsure) {
  const auto& [batch, from] = replacement;
  REPRISE_ASSIGN(const LockedState state, lock_for_append(connection, key, batch, is_unsure));
  if (state.done) {
    REPRISE_TRY(connection.run_one({kCommit}));
    return *state.done;
  }
  REPRISE_TRY(check_batch(key, state.session, from, batch));
  std::vector<Query> branching;
  if (from < state.session.head) {
    REPRISE_ASSIGN(branching, branch_off(connection, key, state.session.branch, from));
  }
  return append_and_commit(connection, {key, batch, state.counted}, std::move(branching));
}

}  // namespace reprise::postgres
