#include "store/postgres/postgres_store.h"

#include "base/text.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "store/call.h"
#include "store/postgres/connection.h"
#include "store/postgres/database.h"
#include "store/postgres/messages.h"
#include "store/postgres/running_answers.h"
#include "store/postgres/sessions.h"
#include "store/postgres/statements.h"
#include "store/postgres/url.h"
#include "store/postgres/values.h"
#include "store/provide.h"
#include "store/rules.h"
#include "store/stored_json.h"

namespace reprise {
namespace postgres {
namespace {

struct ForkRequest {
  const Session& child;
  Seq at;
  const std::string& name;
};
// The parent is locked, so that it is not purged before the child shares its messages.
Result<AtomicCreation> make_fork(Connection& connection, const Key& parent,
                                 const ForkRequest& request) {
  const auto& [child, at, name] = request;
  REPRISE_ASSIGN(const Locked locked, lock_session(connection, parent));
  if (at.value < 0 || at > locked.head) {
    return fail(Code::invalid_argument, cat("cannot fork session ", parent.id.str(), " at ",
                                            at.value, ": it has ", locked.head.value, " messages"));
  }
  REPRISE_ASSIGN(const auto base,
                 base_for(connection, parent.tenant, {parent.id, locked.branch}, at));
  Session forked = child;
  forked.info.forked_from = ForkOrigin{parent.id, at};
  const Key key{parent.tenant, child.info.id};
  REPRISE_ASSIGN(auto queries, creation(key, forked, at, name));
  if (base) {
    queries.push_back(insert_branch(key, 0, *base, at));
  }
  queries.push_back({kCommit});
  return AtomicCreation{key, std::move(queries), name};
}

}  // namespace

// The capabilities with this database: older tables have no index of words.
Capabilities PostgresStore::capabilities_here() {
  Capabilities all = store::capabilities_of(*this, {.lists_by_author = true});
  if (!database_.has_word_index()) {
    all.word_index = nullptr;
  }
  return all;
}

PostgresStore::PostgresStore(std::unique_ptr<Database> database) : owned_(std::move(database)) {}

PostgresStore::~PostgresStore() = default;

Key PostgresStore::key(const SessionId& id) const {
  return {database_.tenant(), id};
}

Result<> PostgresStore::create(const Session& session) {
  REPRISE_TRY(store::check_new_session(session));
  const std::string name = operation_name();
  REPRISE_ASSIGN(auto queries, creation(key(session.info.id), session, Seq{0}, name));
  queries.insert(queries.begin(), {kBegin});
  queries.push_back({kCommit});
  const AtomicCreation creation{key(session.info.id), std::move(queries), name};
  return database_.write([&](Connection& connection, bool is_unsure) {
    return run_creation(connection, creation, is_unsure);
  });
}

Result<std::optional<Session>> PostgresStore::find(const SessionId& id) {
  return database_.read([&](Connection& connection) { return find_session(connection, key(id)); });
}

Result<> PostgresStore::update(const SessionId& id, const SessionPatch& patch) {
  return database_.write(
      [&](Connection& connection, bool) { return update_session(connection, key(id), patch); });
}

Result<AppendResult> PostgresStore::append(const SessionId& id, std::vector<Message> messages,
                                           AppendOptions options) {
  REPRISE_ASSIGN(const Batch batch, make_batch(messages, options, database_.engine()));
  auto appended = database_.write([&](Connection& connection, bool is_unsure) {
    return append_messages(connection, key(id), batch, is_unsure);
  });
  if (appended) {
    note_answers(id, options);
  }
  return appended;
}

// The start of an answer is then not read again to renew its lease.
void PostgresStore::note_answers(const SessionId& id, const AppendOptions& options) {
  RunningAnswers& running = database_.running_answers();
  if (options.end_partial) {
    running.forget(key(id), options.end_partial->str());
  }
  if (const auto& begun = options.begin_partial; begun) {
    running.set_start(key(id), begun->answer.str(), store::answer_to_json(*begun));
  }
}

Result<AppendResult> PostgresStore::replace_suffix(const SessionId& id, Seq from,
                                                   std::vector<Message> messages,
                                                   AppendOptions options) {
  REPRISE_ASSIGN(const Batch batch, make_batch(messages, options, database_.engine()));
  auto appended = database_.write([&](Connection& connection, bool is_unsure) {
    return replace_messages(connection, {database_.tenant(), id}, {batch, from}, is_unsure);
  });
  if (appended) {
    note_answers(id, options);
  }
  return appended;
}

Result<std::int64_t> PostgresStore::count_replaced(const SessionId& id) {
  return database_.read(
      [&](Connection& connection) { return postgres::count_replaced(connection, key(id)); });
}

Result<> PostgresStore::fork(const SessionId& parent, Seq at, const Session& child) {
  REPRISE_TRY(store::check_new_session(child));
  const std::string name = operation_name();
  return database_.write([&](Connection& connection, bool is_unsure) -> Result<> {
    REPRISE_ASSIGN(const AtomicCreation creation,
                   make_fork(connection, {database_.tenant(), parent}, {child, at, name}));
    return run_creation(connection, creation, is_unsure);
  });
}

Result<std::unique_ptr<Store>> PostgresStore::of(std::string_view tenant) {
  REPRISE_TRY(check_tenant(tenant));
  return store::guard(std::make_unique<PostgresStore>(database_.of(tenant)),
                      store::CallOptions(database_.options()));
}

Result<std::optional<Author>> PostgresStore::user() {
  REPRISE_ASSIGN(const Rows rows, database_.read_one({kFindUser}));
  auto author = Author::parse(rows.text(0, "name"));
  return author ? std::optional(*std::move(author)) : std::nullopt;
}

}  // namespace postgres

Result<std::unique_ptr<Store>> open_postgres_store(std::string_view url,
                                                   const StoreOptions& options) {
  REPRISE_ASSIGN(auto database, postgres::Database::open(url, options));
  return store::guard(std::make_unique<postgres::PostgresStore>(std::move(database)),
                      store::CallOptions(options));
}

}  // namespace reprise
