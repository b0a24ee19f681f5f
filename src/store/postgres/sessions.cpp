#include "store/postgres/sessions.h"

#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "reprise/environment.h"
#include "reprise/error.h"
#include "reprise/json.h"
#include "reprise/message.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "reprise/types.h"
#include "store/append_rules.h"
#include "store/facts.h"
#include "store/postgres/connection.h"
#include "store/postgres/rows.h"
#include "store/postgres/server_error.h"
#include "store/postgres/statements.h"
#include "store/postgres/values.h"
#include "store/stored_json.h"

namespace reprise::postgres {
namespace {

// What a session consists of beside its row, as it is stored: "" for what it does not have.
struct NamedValue {
  std::string_view name;
  std::string (*write)(const Session& session);
  void (*read)(Session& session, const std::string& bytes);
};
constexpr NamedValue kValues[] = {
    {"system_prompt", [](const Session& session) { return session.system_prompt; },
     [](Session& session, const std::string& bytes) { session.system_prompt = bytes; }},
    {"config",
     [](const Session& session) {
       return session.config == RawJson() ? "" : std::string(session.config.text());
     },
     [](Session& session, const std::string& bytes) {
       if (auto config = RawJson::parse(bytes); config) {
         session.config = *std::move(config);
       }
     }},
    {"response_chain",
     [](const Session& session) {
       return session.response_chain.empty() ? "" : store::chain_to_json(session.response_chain);
     },
     [](Session& session, const std::string& bytes) {
       session.response_chain = store::chain_from_json(bytes);
     }},
    {"prompt_history",
     [](const Session& session) {
       return session.prompt_history.empty() ? "" : store::strings_to_json(session.prompt_history);
     },
     [](Session& session, const std::string& bytes) {
       session.prompt_history = store::strings_from_json(bytes);
     }},
    {"extra",
     [](const Session& session) {
       return session.extra.empty() ? "" : store::extra_to_json(session.extra);
     },
     [](Session& session, const std::string& bytes) {
       session.extra = store::extra_from_json(bytes);
     }},
};

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

Usage read_usage(const Rows& rows, int column) {
  Usage usage;
  usage.input.value = rows.integer(0, column);
  usage.output.value = rows.integer(0, column + 1);
  usage.reasoning.value = rows.integer(0, column + 2);
  usage.cached.value = rows.integer(0, column + 3);
  if (const auto cost = rows.find_integer(0, column + 4)) {
    usage.cost = Money{*cost};
  }
  usage.price_source = rows.text(0, column + 5);
  usage.cache_written.value = rows.integer(0, column + 6);
  return usage;
}

std::optional<Session> read_session(const Rows& row, const Rows& named) {
  if (row.empty()) {
    return std::nullopt;
  }
  InfoRow info = read_info(row, 0, "");
  if (!info.info) {
    return std::nullopt;
  }
  Session session{.info = *std::move(info.info)};
  session.usage = read_usage(row, kInfoColumns);
  std::map<std::string, std::string, std::less<>> bytes;
  for (int i = 0; i < named.count(); ++i) {
    bytes[named.text(i, 0)] += named.bytes(i, 1);
  }
  for (const NamedValue& value : kValues) {
    if (const auto found = bytes.find(value.name); found != bytes.end()) {
      value.read(session, found->second);
    }
  }
  return session;
}

}  // namespace

void set_value(std::vector<Query>& queries, const Key& key, std::string_view name,
               std::string_view bytes) {
  queries.push_back({kDeleteValue, values_of(key, name)});
  insert_value(queries, key, name, bytes);
}

Result<std::vector<Query>> creation(const Key& key, const Session& session, Seq head,
                                    std::string_view name) {
  const SessionInfo& info = session.info;
  REPRISE_ASSIGN(const std::string folder, index_key(info.working_dir));
  std::vector<Query> queries;
  queries.push_back({kInsertHead, values_of(key, microseconds_of(info.updated_at),
                                            state_number(info.state), folder, head.value, name)});
  const auto origin = info.forked_from ? std::optional(info.forked_from->session.str())
                                       : std::optional<std::string>();
  const auto forked_at =
      info.forked_from ? std::optional(info.forked_from->at.value) : std::optional<std::int64_t>();
  queries.push_back(
      {kInsertSession, values_of(key, info.title, ascii_lower(info.title), info.mode, info.provider,
                                 info.model, info.working_dir, microseconds_of(info.created_at),
                                 microseconds_of(info.closed_at), origin, forked_at)});
  for (const NamedValue& value : kValues) {
    insert_value(queries, key, value.name, value.write(session));
  }
  return queries;
}

Result<> run_creation(Connection& connection, const Creation& creation, bool is_unsure) {
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
    // The commit waits until all before it is as durable as it is itself.
    REPRISE_TRY(connection.run_one({kCommit}));
    if (!locked.rows[0].empty()) {
      return {};
    }
  }
  return std::unexpected(store::session_exists(key.id));
}

Result<std::optional<Session>> find_session(Connection& connection, const Key& key) {
  REPRISE_ASSIGN(const auto rows, connection.run({{kBeginSnapshot},
                                                  {kFindSession, values_of(key)},
                                                  {kFindValues, values_of(key)},
                                                  {kCommit}}));
  return read_session(rows[1], rows[2]);
}

Result<> update_session(Connection& connection, const Key& key, const SessionPatch& patch) {
  REPRISE_ASSIGN(const Locked locked,
                 lock_session(connection, key,
                              {{kFindSession, values_of(key)}, {kFindValues, values_of(key)}}));
  auto found = read_session(locked.rows[0], locked.rows[1]);
  if (!found) {
    return std::unexpected(store::no_session(key.id));
  }
  const Session before = *found;
  Session& session = *found;
  REPRISE_TRY(store::apply_patch(session, patch));
  const SessionInfo& info = session.info;
  REPRISE_ASSIGN(const std::string folder, index_key(info.working_dir));
  std::vector<Query> queries;
  queries.push_back({kUpdateHead, values_of(key, state_number(info.state), folder)});
  queries.push_back(
      {kUpdateSession, values_of(key, info.title, ascii_lower(info.title), info.mode, info.provider,
                                 info.model, info.working_dir, microseconds_of(info.closed_at))});
  for (const NamedValue& value : kValues) {
    if (const std::string bytes = value.write(session); bytes != value.write(before)) {
      set_value(queries, key, value.name, bytes);
    }
  }
  queries.push_back({kCommit});
  REPRISE_TRY(connection.run(queries));
  return {};
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
  std::vector<Query> all = {{kBegin}, {kLockHead, values_of(key)}};
  all.insert(all.end(), queries.begin(), queries.end());
  REPRISE_ASSIGN(auto rows, connection.run(all));
  const Rows& head = rows[1];
  if (head.empty()) {
    return std::unexpected(store::no_session(key.id));
  }
  Locked locked{.head = Seq{head.integer(0, 0)},
                .branch = head.integer(0, 1),
                .answer = head.find_text(0, 2),
                .state = state_of(head.integer(0, 3)),
                .rows = {}};
  locked.rows.assign(std::make_move_iterator(rows.begin() + 2),
                     std::make_move_iterator(rows.end()));
  return locked;
}

}  // namespace reprise::postgres
