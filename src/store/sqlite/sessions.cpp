#include "store/sqlite/sessions.h"

// Archived sessions are rows in that state, which lists omit unless requested.

#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/text.h"
#include "model/fields.h"
#include "model/known_time.h"
#include "reprise/capabilities.h"
#include "reprise/store.h"
#include "store/rules.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/database.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/sqlite_store.h"
#include "store/stored_json.h"

namespace reprise::sqlite {
namespace {

// The field of a session for tokens in the column of that name beyond those of its usage.
constexpr std::string_view kTokenCount = "token_count";

// The columns of a row and their values, in the order of the fields.
struct SessionRow {
  std::vector<std::string_view> columns = {};
  std::vector<std::variant<std::nullopt_t, std::int64_t, std::string>> values = {};

  template <class Value>
  void add(std::string_view column, Value&& value) {
    columns.push_back(column);
    values.emplace_back(std::forward<Value>(value));
  }

  void add_field(std::string_view column, SessionState state) {
    add(column, std::string(to_string(state)));
  }
  template <std::same_as<bool> Flag>
  void add_field(std::string_view column, Flag flag) {
    add(column, std::int64_t{flag});
  }
  void add_field(std::string_view column, Time time) { add(column, microseconds_of(time)); }
  void add_field(std::string_view column, const std::optional<Time>& time) {
    if (time) {
      add(column, microseconds_of(*time));
    } else {
      add(column, std::nullopt);
    }
  }
  void add_field(std::string_view column, const std::optional<ForkOrigin>& origin) {
    add(column, origin ? origin->session.str() : "");
    add(model::kForkedAt, origin ? origin->at.value : 0);
  }
  template <class Value>
    requires requires(const Value& value) { store::to_text(value); }
  void add_field(std::string_view column, const Value& value) {
    add(column, store::to_text(value));
  }
  // Prompts have rows of their own.
  void add_field(std::string_view /*column*/, const std::vector<std::string>& /*prompts*/) {}
  // Head and usage are changed only by appends.
  void add_field(std::string_view /*column*/, Seq /*head*/) {}
  void add_field(std::string_view /*column*/, const Usage& /*usage*/) {}

  void bind_to(Statement& statement) const {
    for (const auto& value : values) {
      std::visit([&statement](const auto& bound) { statement.bind(bound); }, value);
    }
  }
};

enum class Fields : std::uint8_t { all, patched };

SessionRow row_of(const Session& session, Fields fields) {
  SessionRow row;
  const auto add = [&](const auto& owner) {
    return [&](const auto& field) {
      if (fields == Fields::all || field.patch != nullptr) {
        row.add_field(field.column, owner.*field.member);
      }
    };
  };
  model::for_each(model::kInfoFields, add(session.info));
  model::for_each(model::kSessionFields, add(session));
  return row;
}

// Removes the tokens that only the original program counted from the fields, and returns them.
std::int64_t take_token_count(Extra& extra) {
  const RawJson* const field = json::find_field(extra, kTokenCount);
  const std::int64_t count = field == nullptr ? 0 : json::integer_in(field->text()).value_or(0);
  if (count <= 0) {
    return 0;
  }
  std::erase_if(extra,
                [](const ExtraField& extra_field) { return extra_field.name == kTokenCount; });
  return count;
}

Result<> store_prompts(Connection& connection, const SessionId& id,
                       const std::vector<std::string>& prompts) {
  if (prompts.empty()) {
    return connection.run("DELETE FROM reprise_prompts WHERE session_id = ?", id.str());
  }
  const std::string json = json::array_of(prompts);
  return connection.run(
      "INSERT INTO reprise_prompts(session_id, prompts) VALUES(?, ?)"
      " ON CONFLICT(session_id) DO UPDATE SET prompts = excluded.prompts",
      id.str(), json);
}

// Gives the session a new rowid, so that readers of changes (changes.cpp) notice the update.
Result<> renumber(Connection& connection, const SessionId& id) {
  return connection.run(
      "UPDATE sessions SET rowid = (SELECT max(rowid) + 1 FROM sessions) WHERE id = ?", id.str());
}

Result<> set_activity(Connection& connection, const SessionInfo& info) {
  SessionInfo in_row = info;
  exchange_activity(in_row);
  const std::string text = seconds_text({info.updated_at, info.created_at});
  const std::optional<std::int64_t> ahead =
      in_row.arrived_at ? std::optional(microseconds_of(*in_row.arrived_at)) : std::nullopt;
  return connection.run(
      "UPDATE sessions SET updated_us = ?, updated_slot = ?, ahead_us = ?, updated_at = ?"
      " WHERE id = ?",
      microseconds_of(in_row.updated_at), slot_of(in_row.updated_at), ahead, text, info.id.str());
}

Result<> set_state(Connection& connection, const SessionId& id, SessionState state) {
  return connection.run("UPDATE sessions SET state = ? WHERE id = ?", to_string(state), id.str());
}

Result<SessionInfo> info_of(Connection& connection, const SessionId& id) {
  REPRISE_ASSIGN(auto found, find_session(connection, id));
  return found ? Result<SessionInfo>(std::move(found->info))
               : std::unexpected(store::no_session(id));
}

}  // namespace

Result<> insert_session(Connection& connection, const Session& session, const Base& base) {
  const SessionInfo& info = session.info;
  REPRISE_ASSIGN(const std::int64_t exists,
                 connection.integer("SELECT 1 FROM sessions WHERE id = ?1"
                                    " UNION ALL SELECT 1 FROM reprise_kept WHERE id = ?1",
                                    info.id.str()));
  if (exists != 0) {
    return std::unexpected(store::session_exists(info.id));
  }
  Session stored = session;
  const std::int64_t uncounted = take_token_count(stored.extra);
  stored.info.arrived_at = known_arrival(info);
  exchange_activity(stored.info);
  SessionRow row = row_of(stored, Fields::all);
  row.add("id", info.id.str());
  row.add("token_count", uncounted);
  row.add("created_at", seconds_text({info.created_at, info.updated_at}));
  row.add("updated_at", seconds_text({info.updated_at, info.created_at}));
  row.add("updated_slot", slot_of(stored.info.updated_at));
  row.add("head", base.count.value);
  if (base.session) {
    row.add("base", *base.session);
  }
  row.add("base_count", base.count.value);
  const std::string placeholders = joined(row.columns, [](std::string_view) { return "?"; });
  REPRISE_ASSIGN(Statement insert,
                 connection.prepare(cat("INSERT INTO sessions(", joined(row.columns), ") VALUES(",
                                        placeholders, ")")));
  row.bind_to(insert);
  REPRISE_TRY(insert.run());
  if (session.prompt_history.empty()) {
    return {};
  }
  return store_prompts(connection, info.id, session.prompt_history);
}

Result<std::optional<Session>> find_session(Connection& connection, const SessionId& id) {
  static const std::string sql = cat(
      "SELECT ", info_select(), ", ", usage_columns(),
      ", s.config AS config, s.response_chain AS response_chain, s.extra AS extra,"
      " CASE WHEN s.base IS NULL THEN s.token_count END AS token_count,"  // of forks: the parent's
      " s.system_prompt AS system_prompt, p.prompts AS prompt_history,"
      " (SELECT first FROM reprise_once WHERE session_id = s.id"
      " AND name = 'sum:cache_written') AS cache_written",
      " FROM sessions AS s LEFT JOIN reprise_answers AS a ON a.session_id = s.id AND a.n = 0"
      " LEFT JOIN reprise_prompts AS p ON p.session_id = s.id WHERE s.id = ?");
  REPRISE_ASSIGN(Statement row, connection.query(sql, id.str()));
  REPRISE_ASSIGN(const bool found, row.step());
  if (!found) {
    return std::nullopt;
  }
  InfoRow info = read_info(row, connection.name());
  if (!info.info) {
    return std::nullopt;
  }
  Session session{.info = *std::move(info.info)};
  session.usage = store::read_sums(row, "cache_written");
  model::for_each(model::kSessionFields, [&](const auto& field) {
    if constexpr (requires { store::from_text("", session.*field.member); }) {
      store::from_text(row.bytes(field.column), session.*field.member);
    }
  });
  const std::int64_t uncounted = row.integer("token_count") - tokens_of(session.usage);
  if (uncounted > 0) {
    json::set_field(session.extra, kTokenCount, json::take(std::to_string(uncounted)));
  }
  return session;
}

Result<> update_session(Connection& connection, const SessionId& id, const SessionPatch& patch) {
  REPRISE_ASSIGN(auto found, find_session(connection, id));
  if (!found) {
    return std::unexpected(store::no_session(id));
  }
  Session& session = *found;
  const std::string folder = session.info.working_dir;
  REPRISE_TRY(store::apply_patch(session, patch));
  (void)take_token_count(session.extra);  // the row has it
  const SessionRow row = row_of(session, Fields::patched);
  const auto assigned = [](std::string_view column) { return cat(column, " = ?"); };
  REPRISE_ASSIGN(Statement update,
                 connection.prepare(
                     cat("UPDATE sessions SET ", joined(row.columns, assigned), " WHERE id = ?")));
  row.bind_to(update);
  update.bind(id.str());
  REPRISE_TRY(update.run());
  if (session.info.working_dir != folder) {
    REPRISE_TRY(renumber(connection, id));
  }
  if (patch.updated_at) {
    REPRISE_TRY(set_activity(connection, session.info));
  }
  if (patch.prompt_history) {
    return store_prompts(connection, id, session.prompt_history);
  }
  return {};
}

Result<> require_session(Connection& connection, const SessionId& id) {
  REPRISE_ASSIGN(const std::int64_t exists,
                 connection.integer("SELECT 1 FROM sessions WHERE id = ?", id.str()));
  if (exists == 0) {
    return std::unexpected(store::no_session(id));
  }
  return {};
}

Result<> SqliteStore::archive(const SessionId& id, Time /*when*/) {
  return database_.write(Durability::disk, [&](Connection& connection) -> Result<> {
    REPRISE_ASSIGN(const SessionInfo info, info_of(connection, id));
    REPRISE_ASSIGN(const bool is_to_do, store::check_archive(info));
    return is_to_do ? set_state(connection, id, SessionState::archived) : Result<>();
  });
}

Result<> SqliteStore::unarchive(const SessionId& id) {
  return database_.write(Durability::disk, [&](Connection& connection) -> Result<> {
    REPRISE_ASSIGN(const SessionInfo info, info_of(connection, id));
    REPRISE_ASSIGN(const SessionState state, store::state_unarchived(info));
    return set_state(connection, id, state);
  });
}

}  // namespace reprise::sqlite
