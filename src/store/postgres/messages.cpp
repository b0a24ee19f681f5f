#include "store/postgres/messages.h"

#include <iterator>
#include <set>

#include "base/assert.h"
#include "base/text.h"
#include "model/fields.h"
#include "model/known_time.h"
#include "reprise/store.h"
#include "store/append_rules.h"
#include "store/postgres/branches.h"
#include "store/postgres/connection.h"
#include "store/postgres/rows.h"
#include "store/postgres/server_error.h"
#include "store/postgres/sessions.h"
#include "store/postgres/statements.h"
#include "store/postgres/values.h"
#include "store/rules.h"
#include "store/stored_json.h"
#include "store/usage_sum.h"

namespace reprise::postgres {
namespace {

using Names = std::set<std::string, std::less<>>;

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

// What the batch adds to the session's usage, and the names of the requests that are counted by it;
// those in `counted` were before.
struct Counting {
  Usage usage;
  Names names;
};
Counting count(const Batch& batch, const Names& counted) {
  Counting counting;
  for (const Batch::Request& request : batch.requests) {
    if (request.name.empty() ||
        (!counted.contains(request.name) && counting.names.insert(request.name).second)) {
      store::add_usage(counting.usage, request.usage);
    }
  }
  return counting;
}

// In the order of their columns.
void add_sums(Values& values, const Usage& usage) {
  struct Adder {
    Values& values;
    void add(TokenCount count) const { values.add(count.value); }
    void add(const std::optional<Money>& money) const {
      values.add(money ? std::optional(money->nanos) : std::nullopt);
    }
    void add(const std::string& text) const { values.add(text); }
  };
  model::for_each(model::kUsageFields, [&](const auto& field) {
    if (!field.column.empty()) {
      Adder{values}.add(usage.*field.member);
    }
  });
}

// Who holds the session has looked at its head already.
enum class Held : std::uint8_t { no, yes };

Query append_query(const Key& key, const Batch& batch, const Names& counted, Held held) {
  const AppendOptions& options = batch.options;
  const Counting counting = count(batch, counted);
  const AppendShape shape{.single = batch.size() == 1,
                          .usage = !batch.requests.empty(),
                          .answer = options.begin_partial || options.end_partial};
  Values values = values_of(
      key,
      options.expected_head && held == Held::no ? std::optional(options.expected_head->value)
                                                : std::nullopt,
      batch.size(), batch.times.empty() ? std::nullopt : std::optional(batch.activity));
  if (shape.has_one_name()) {
    values.add(batch.operation);
  } else {
    ByteStrings once = {batch.operation};
    once.insert(once.end(), counting.names.begin(), counting.names.end());
    values.add(once);
  }
  if (shape.single) {
    values.add(batch.more.front());
    values.add(batch.roles.front());
    values.add(batch.contents.front());
    values.add(batch.details.front());
  } else {
    // A shorter array would end with nulls.
    REPRISE_ASSERT(
        batch.places.size() == batch.times.size() && batch.places.size() == batch.more.size() &&
        batch.places.size() == batch.roles.size() && batch.places.size() == batch.contents.size() &&
        batch.places.size() == batch.details.size());
    values.add(batch.places);
    values.add(batch.times);
    values.add(batch.more);
    values.add(batch.roles);
    values.add(batch.contents);
    values.add(batch.details);
  }
  if (shape.usage) {
    add_sums(values, counting.usage);
  }
  if (shape.answer) {
    const auto& begins = options.begin_partial;
    values.add(options.end_partial ? std::optional(options.end_partial->str()) : std::nullopt);
    values.add(begins ? std::optional(begins->answer.str()) : std::nullopt);
    values.add(begins ? std::optional(store::answer_to_json(*begins)) : std::nullopt);
  }
  const auto& [text, hash] = append_statement(shape);
  return {text, std::move(values), hash};
}

// What stands in other tables.
std::vector<Query> queries_beside(const Key& key, const Batch& batch, const Names& counted) {
  std::vector<Query> queries;
  queries.reserve(batch.parts.size());
  for (const Batch::Part& part : batch.parts) {
    queries.push_back(
        {kInsertMessagePart, values_of(key, batch.operation, part.place, part.part, part.bytes)});
  }
  if (!batch.blobs.empty()) {
    queries.push_back({kInsertBlobRefs, values_of(key, batch.operation, batch.blobs)});
  }
  if (const TokenCount written = count(batch, counted).usage.cache_written; written.value != 0) {
    queries.push_back({kAddCacheWritten, values_of(key, batch.operation, written.value)});
  }
  if (batch.options.end_partial) {
    queries.push_back(
        {kDeleteDeltas, values_of(key, batch.operation, batch.options.end_partial->str())});
  }
  return queries;
}

// nullopt when something is in the way: it has happened before, or may not happen as things are.
Result<std::optional<Appended>> append_at_once(Connection& connection, const Key& key,
                                               const Batch& batch) {
  std::vector<Query> queries = queries_beside(key, batch, {});
  const bool is_alone = queries.empty();
  queries.insert(queries.begin(), append_query(key, batch, {}, Held::no));
  if (!is_alone) {
    queries.insert(queries.begin(), {kBegin});
    queries.push_back({kCommit});
  }
  const auto rows = connection.run(queries);
  if (!rows) {
    if (connection.failure().sqlstate != kDuplicateKey) {
      return std::unexpected(rows.error());
    }
    if (!connection.is_idle()) {
      REPRISE_TRY(connection.run_one({kRollback}));
    }
    return std::nullopt;
  }
  const Rows& moved = (*rows)[is_alone ? 0 : 1];
  return moved.empty() ? std::nullopt
                       : std::optional(store::appended_at(Seq{moved.integer(0, "first_seq")},
                                                          batch.roles.size()));
}

// The session as it is, held; whether the batch has happened, and which requests were counted.
struct Now {
  Locked session;
  std::optional<Appended> done;
  Names counted;
};
Result<Now> lock_now(Connection& connection, const Key& key, const Batch& batch, bool is_unsure) {
  ByteStrings names;
  for (const Batch::Request& request : batch.requests) {
    names.emplace_back(request.name);
  }
  Now now;
  REPRISE_ASSIGN(now.session, lock_session(connection, key,
                                           {{kFindOnce, values_of(key, batch.operation)},
                                            {kFindRequests, values_of(key, names)}}));
  if (const Rows& done = now.session.rows[0]; !done.empty()) {
    now.done =
        Appended{Seq{done.integer(0, "first_seq")}, Seq{done.integer(0, "head")}, !is_unsure};
  }
  const Rows& requests = now.session.rows[1];
  for (int i = 0; i < requests.count(); ++i) {
    now.counted.insert(requests.text(i, "name"));
  }
  return now;
}

Result<> check_batch(const Key& key, const Locked& now, Seq from, const AppendOptions& options) {
  return store::check_append({.id = key.id, .head = now.head, .answer = now.answer}, from, options);
}

// Ends the transaction with the batch.
Result<Appended> append_and_commit(Connection& connection, const Key& key, const Batch& batch,
                                   const Names& counted, std::vector<Query> before = {}) {
  const std::size_t append_at = before.size();
  std::vector<Query> queries = std::move(before);
  queries.push_back(append_query(key, batch, counted, Held::yes));
  auto beside = queries_beside(key, batch, counted);
  queries.insert(queries.end(), std::make_move_iterator(beside.begin()),
                 std::make_move_iterator(beside.end()));
  queries.push_back({kCommit});
  REPRISE_ASSIGN(const auto rows, connection.run(queries));
  if (rows[append_at].empty()) {
    return fail(Code::corrupt, cat("session ", key.id.str(), " changed although it was held"));
  }
  return store::appended_at(Seq{rows[append_at].integer(0, "first_seq")}, batch.roles.size());
}

}  // namespace

Result<Batch> make_batch(const std::vector<Message>& messages, const AppendOptions& options) {
  Batch batch{
      .options = options,
      .operation = options.operation ? store::once_name(*options.operation) : operation_name()};
  batch.activity = microseconds_of(activity_after(kUnknownTime, messages));
  for (const Message& message : messages) {
    add_content(batch, message);
    REPRISE_TRY(add_request(batch, message));
    batch.roles.emplace_back(message.role);
    batch.details.push_back(detail_of(message));
    batch.times.push_back(microseconds_of(message.created_at));
    batch.places.push_back(batch.size());
    for (const BlobHash& hash : store::blobs_in(message.blocks)) {
      batch.blobs.emplace_back(hash.str());
    }
  }
  return batch;
}

Result<Appended> append_messages(Connection& connection, const Key& key, const Batch& batch,
                                 bool is_unsure) {
  if (!is_unsure) {
    REPRISE_ASSIGN(const auto appended, append_at_once(connection, key, batch));
    if (appended) {
      return *appended;
    }
  }
  REPRISE_ASSIGN(const Now now, lock_now(connection, key, batch, is_unsure));
  if (now.done) {
    // The commit waits until all before it is as durable as it is itself.
    REPRISE_TRY(connection.run_one({kCommit}));
    return *now.done;
  }
  REPRISE_TRY(check_batch(key, now.session, now.session.head, batch.options));
  return append_and_commit(connection, key, batch, now.counted);
}

Result<Appended> replace_messages(Connection& connection, const Key& key,
                                  const Replacement& replacement, bool is_unsure) {
  const auto& [batch, from] = replacement;
  REPRISE_ASSIGN(const Now now, lock_now(connection, key, batch, is_unsure));
  if (now.done) {
    REPRISE_TRY(connection.run_one({kCommit}));
    return *now.done;
  }
  REPRISE_TRY(check_batch(key, now.session, from, batch.options));
  std::vector<Query> branching;
  if (from < now.session.head) {
    REPRISE_ASSIGN(branching, branch_off(connection, key, now.session.branch, from));
  }
  return append_and_commit(connection, key, batch, now.counted, std::move(branching));
}

}  // namespace reprise::postgres
