#include "store/postgres/sessions.h"

// Archived sessions are heads in that state, which lists omit unless requested.

#include <iterator>
#include <map>
#include <type_traits>

#include "base/fold.h"
#include "base/text.h"
#include "model/fields.h"
#include "model/known_time.h"
#include "reprise/capabilities.h"
#include "reprise/environment.h"
#include "reprise/store.h"
#include "store/column_reader.h"
#include "store/postgres/connection.h"
#include "store/postgres/database.h"
#include "store/postgres/postgres_store.h"
#include "store/postgres/rows.h"
#include "store/postgres/server_error.h"
#include "store/postgres/statements.h"
#include "store/postgres/values.h"
#include "store/rules.h"
#include "store/stored_json.h"

namespace reprise::postgres {
namespace {

// Visits the parts of a session outside its row and head: the values of these fields, by name;
// empty ones are not stored.
template <class Visit>
void for_each_value(const Visit& visit) {
  model::for_each(model::kSessionFields,
                  [&]<class Value>(const model::Field<Session, Value>& field) {
                    if constexpr (!std::is_same_v<Value, Usage>) {
                      visit(field);
                    }
                  });
}

template <class Value>
std::string value_of(const Session& session, const model::Field<Session, Value>& field) {
  const Value& value = session.*field.member;
  return value == Value{} ? "" : store::to_text(value);
}

// Adds the values of a statement's columns (rows.h).
struct FieldValues {
  Values& values;

  void add(const std::string& text) const { values.add(text); }
  template <std::same_as<bool> Flag>
  void add(Flag flag) const {
    values.add(std::int64_t{flag});
  }
  void add(SessionState state) const { values.add(state_number(state)); }
  void add(Time time) const { values.add(microseconds_of(time)); }
  void add(const std::optional<Time>& time) const {
    values.add(time ? std::optional(microseconds_of(*time)) : std::nullopt);
  }
  void add(const std::optional<ForkOrigin>& origin) const {
    values.add(origin ? std::optional(origin->session.str()) : std::nullopt);
    values.add(origin ? std::optional(origin->at.value) : std::nullopt);
  }
  void add(Seq seq) const { values.add(seq.value); }
};

void add_fields(Values& values, const SessionInfo& info, Part part, Change change) {
  model::for_each(model::kInfoFields, [&](const auto& field) {
    if (part_of(field) == part && is_given(field, change)) {
      FieldValues{values}.add(info.*field.member);
    }
  });
}

void insert_value(std::vector<Query>& queries, const Key& key, std::string_view name,
                  std::string_view bytes) {
  if (bytes.empty()) {
    return;
  }
  std::int64_t part = 0;
  for (const std::string& piece : pieces_of(bytes)) {
    queries.push_back({kInsertValue, values_of(key, name, part++, piece)});
  }
}

std::optional<Session> read_session(const Rows& row, const Rows& named) {
  if (row.empty()) {
    return std::nullopt;
  }
  InfoRow info = read_info({row, 0}, "");
  if (!info.info) {
    return std::nullopt;
  }
  Session session{.info = *std::move(info.info)};
  session.usage = store::read_sums(RowView{row, 0}, "cache_written");
  std::map<std::string, std::string, std::less<>> bytes;
  for (int i = 0; i < named.count(); ++i) {
    bytes[named.text(i, "name")] += named.bytes(i, "bytes");
  }
  for_each_value([&](const auto& field) {
    if (const auto found = bytes.find(field.name); found != bytes.end()) {
      store::from_text(found->second, session.*field.member);
    }
  });
  return session;
}

Result<> set_state(Connection& connection, const Key& key, SessionState state) {
  return connection.execute({{kSetState, values_of(key, state_number(state))}, {kCommit}});
}

}  // namespace

void set_value(std::vector<Query>& queries, const Key& key, std::string_view name,
               std::string_view bytes) {
  queries.push_back({kDeleteValue, values_of(key, name)});
  insert_value(queries, key, name, bytes);
}

Result<std::vector<Query>> creation(const Key& key, const Session& session, Seq head,
                                    std::string_view name) {
  SessionInfo info = session.info;
  info.arrived_at = known_arrival(info);
  exchange_activity(info);
  REPRISE_ASSIGN(const std::string folder, index_key(info.working_dir));
  REPRISE_ASSIGN(const std::string mode, index_key(info.mode));
  const std::string title = folded(info.title);
  std::vector<Query> queries;
  const SessionStatements& statements = session_statements();
  Values in_head = values_of(key, microseconds_of(info.updated_at), folder, head.value,
                             title.substr(0, kTitleStart), mode);
  add_fields(in_head, info, Part::head, Change::creation);
  queries.push_back({statements.insert_head, std::move(in_head)});
  queries.push_back({kInsertOnce, values_of(key, name)});
  Values in_row = values_of(key, title);
  add_fields(in_row, info, Part::row, Change::creation);
  queries.push_back({statements.insert_row, std::move(in_row)});
  for_each_value(
      [&](const auto& field) { insert_value(queries, key, field.name, value_of(session, field)); });
  return queries;
}

Result<> run_creation(Connection& connection, const AtomicCreation& creation, bool is_unsure) {
  const auto& [key, queries, name] = creation;
  const auto created = connection.run(queries);
  if (created) {
    return {};
  }
  if (connection.failure().sqlstate != kDuplicateKey) {
    return std::unexpected(created.error());
  }
  REPRISE_TRY(connection.run_one({kRollback}));
  if (is_unsure) {
    REPRISE_ASSIGN(const Locked locked,
                   lock_session(connection, key, {{kFindOnce, values_of(key, name)}}));
    // The commit makes everything before it as durable as itself.
    REPRISE_TRY(connection.run_one({kCommit}));
    if (!locked.rows[0].empty()) {
      return {};
    }
  }
  return std::unexpected(store::session_exists(key.id));
}

Result<std::optional<Session>> find_session(Connection& connection, const Key& key) {
  REPRISE_ASSIGN(const auto rows, connection.run({{kBeginSnapshot},
                                                  {session_statements().find, values_of(key)},
                                                  {kFindValues, values_of(key)},
                                                  {kCommit}}));
  return read_session(rows[1], rows[2]);
}

Result<> update_session(Connection& connection, const Key& key, const SessionPatch& patch) {
  REPRISE_ASSIGN(const Locked locked, lock_session(connection, key,
                                                   {{session_statements().find, values_of(key)},
                                                    {kFindValues, values_of(key)}}));
  auto found = read_session(locked.rows[0], locked.rows[1]);
  if (!found) {
    return std::unexpected(store::no_session(key.id));
  }
  const Session before = *found;
  Session& session = *found;
  REPRISE_TRY(store::apply_patch(session, patch));
  const SessionInfo& info = session.info;
  REPRISE_ASSIGN(const std::string folder, index_key(info.working_dir));
  REPRISE_ASSIGN(const std::string mode, index_key(info.mode));
  const std::string title = folded(info.title);
  std::vector<Query> queries;
  const SessionStatements& statements = session_statements();
  Values in_head = values_of(key, folder, title.substr(0, kTitleStart), mode);
  add_fields(in_head, info, Part::head, Change::update);
  queries.push_back({statements.update_head, std::move(in_head)});
  Values in_row = values_of(key, title);
  add_fields(in_row, info, Part::row, Change::update);
  queries.push_back({statements.update_row, std::move(in_row)});
  for_each_value([&](const auto& field) {
    if (const std::string bytes = value_of(session, field); bytes != value_of(before, field)) {
      set_value(queries, key, field.name, bytes);
    }
  });
  if (patch.updated_at) {
    SessionInfo times = info;
    exchange_activity(times);
    const auto& ahead = times.arrived_at;
    queries.push_back(
        {kSetActivity, values_of(key, microseconds_of(times.updated_at),
                                 ahead ? std::optional(microseconds_of(*ahead)) : std::nullopt)});
  }
  queries.push_back({kCommit});
  return connection.execute(queries);
}

Result<> require_session(Connection& connection, const Key& key) {
  REPRISE_ASSIGN(const Rows rows, connection.run_one({kFindState, values_of(key)}));
  if (rows.empty()) {
    return std::unexpected(store::no_session(key.id));
  }
  return {};
}

std::string operation_name() {
  return store::once_name(make_operation_id(system_clock(), system_entropy()));
}

Result<Locked> lock_session(Connection& connection, const Key& key,
                            const std::vector<Query>& queries) {
  std::vector<Query> batch = {{kBegin}, {kLockHead, values_of(key)}};
  batch.insert(batch.end(), queries.begin(), queries.end());
  REPRISE_ASSIGN(auto rows, connection.run(batch));
  const Rows& head = rows[1];
  if (head.empty()) {
    return std::unexpected(store::no_session(key.id));
  }
  Locked locked{.head = Seq{head.integer(0, "head")},
                .branch = head.integer(0, "branch"),
                .answer = head.find_text(0, "answer"),
                .state = state_of(head.integer(0, "state")),
                .rows = {}};
  locked.rows.assign(std::make_move_iterator(rows.begin() + 2),
                     std::make_move_iterator(rows.end()));
  return locked;
}

Result<SessionInfo> lock_info(Connection& connection, const Key& key) {
  REPRISE_ASSIGN(const Locked locked, lock_session(connection, key,
                                                   {{session_statements().find, values_of(key)},
                                                    {kFindValues, values_of(key)}}));
  auto found = read_session(locked.rows[0], locked.rows[1]);
  return found ? Result<SessionInfo>(std::move(found->info))
               : std::unexpected(store::no_session(key.id));
}

Result<> PostgresStore::archive(const SessionId& id, Time /*when*/) {
  return database_.write([&](Connection& connection, bool) -> Result<> {
    const Key key{database_.tenant(), id};
    REPRISE_ASSIGN(const SessionInfo info, lock_info(connection, key));
    REPRISE_TRY(store::check_archive(info));
    return set_state(connection, key, SessionState::archived);
  });
}

Result<> PostgresStore::unarchive(const SessionId& id) {
  return database_.write([&](Connection& connection, bool is_unsure) -> Result<> {
    const Key key{database_.tenant(), id};
    REPRISE_ASSIGN(const SessionInfo info, lock_info(connection, key));
    // An earlier attempt with an unknown outcome may have restored it.
    const bool is_back =
        is_unsure && info.state != SessionState::archived && info.state != SessionState::trashed;
    const auto state = is_back ? Result<SessionState>(info.state) : store::state_unarchived(info);
    REPRISE_TRY(state);
    return set_state(connection, key, *state);
  });
}

}  // namespace reprise::postgres
