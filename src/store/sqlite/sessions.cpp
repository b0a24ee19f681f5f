#include "store/sqlite/sessions.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "reprise/error.h"
#include "reprise/json.h"
#include "reprise/message.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "reprise/types.h"
#include "store/facts.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/schema.h"
#include "store/stored_json.h"

namespace reprise::sqlite {
namespace {

// After kInfoColumns.
constexpr int kRestAt = 17;
constexpr std::string_view kRestColumns =
    ", s.input_tokens, s.output_tokens, s.reasoning_tokens, s.cached_tokens, s.cost_nanos,"
    " s.price_source, s.config, s.response_chain, s.extra, s.system_prompt, p.prompts,"
    " (SELECT first FROM reprise_once WHERE session_id = s.id AND name = 'sum:cache_written')";

Usage read_usage(const Statement& row) {
  Usage usage;
  usage.input.value = row.integer(kRestAt);
  usage.output.value = row.integer(kRestAt + 1);
  usage.reasoning.value = row.integer(kRestAt + 2);
  usage.cached.value = row.integer(kRestAt + 3);
  if (!row.is_null(kRestAt + 4)) {
    usage.cost = Money{row.integer(kRestAt + 4)};
  }
  usage.price_source = row.text(kRestAt + 5);
  usage.cache_written.value = row.integer(kRestAt + 11);
  return usage;
}

std::optional<std::int64_t> microseconds_of(const std::optional<Time>& time) {
  return time ? std::optional(sqlite::microseconds_of(*time)) : std::nullopt;
}

Result<> store_prompts(Connection& connection, const SessionId& id,
                       const std::vector<std::string>& prompts) {
  if (prompts.empty()) {
    return connection.run("DELETE FROM reprise_prompts WHERE session_id = ?", id.str());
  }
  const std::string json = store::strings_to_json(prompts);
  return connection.run(
      "INSERT INTO reprise_prompts(session_id, prompts) VALUES(?, ?)"
      " ON CONFLICT(session_id) DO UPDATE SET prompts = excluded.prompts",
      id.str(), json);
}

}  // namespace

Result<> insert_session(Connection& connection, const Session& session, const Base& base) {
  const SessionInfo& info = session.info;
  REPRISE_ASSIGN(const std::int64_t exists,
                 connection.integer("SELECT 1 FROM sessions WHERE id = ?", info.id.str()));
  if (exists != 0) {
    return std::unexpected(store::session_exists(info.id));
  }
  const std::string created_at = seconds_text(info.created_at);
  const std::string updated_at = seconds_text(info.updated_at);
  const std::string chain = store::chain_to_json(session.response_chain);
  const std::string extra = store::extra_to_json(session.extra);
  const std::string_view origin =
      info.forked_from ? std::string_view(info.forked_from->session.str()) : "";
  REPRISE_TRY(connection.run(
      "INSERT INTO sessions(id, title, model, working_dir, system_prompt, created_at, updated_at,"
      " forked_from, forked_at, created_us, updated_us, closed_us, state, mode, provider, head,"
      " base, base_count, config, response_chain, extra)"
      " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      info.id.str(), info.title, info.model, info.working_dir, session.system_prompt, created_at,
      updated_at, origin, info.forked_from ? info.forked_from->at.value : 0,
      microseconds_of(std::optional(info.created_at)),
      microseconds_of(std::optional(info.updated_at)), microseconds_of(info.closed_at),
      to_string(info.state), info.mode, info.provider, base.count.value, base.session,
      base.count.value, session.config.text(), chain, extra));
  REPRISE_TRY(set_slot(connection, info.id, info.updated_at));
  if (session.prompt_history.empty()) {
    return {};
  }
  return store_prompts(connection, info.id, session.prompt_history);
}

Result<> set_slot(Connection& connection, const SessionId& id, Time updated_at) {
  REPRISE_ASSIGN(const std::int64_t version, connection.integer("PRAGMA user_version"));
  if (version < kVersion) {
    return {};
  }
  return connection.run("UPDATE sessions SET updated_slot = ? WHERE id = ?", slot_of(updated_at),
                        id.str());
}

Result<std::optional<Session>> find_session(Connection& connection, const SessionId& id) {
  static const std::string sql =
      cat("SELECT ", kInfoColumns, kRestColumns,
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
  session.usage = read_usage(row);
  if (auto config = RawJson::parse(row.text(kRestAt + 6)); config) {
    session.config = *std::move(config);
  }
  session.response_chain = store::chain_from_json(row.bytes(kRestAt + 7));
  session.extra = store::extra_from_json(row.bytes(kRestAt + 8));
  row.text(kRestAt + 9, session.system_prompt);
  session.prompt_history = store::strings_from_json(row.bytes(kRestAt + 10));
  return session;
}

Result<> update_session(Connection& connection, const SessionId& id, const SessionPatch& patch) {
  REPRISE_ASSIGN(auto found, find_session(connection, id));
  if (!found) {
    return std::unexpected(store::no_session(id));
  }
  Session& session = *found;
  REPRISE_TRY(store::apply_patch(session, patch));
  const SessionInfo& info = session.info;
  const std::string chain = store::chain_to_json(session.response_chain);
  const std::string extra = store::extra_to_json(session.extra);
  REPRISE_TRY(connection.run(
      "UPDATE sessions SET title = ?, model = ?, working_dir = ?, system_prompt = ?, closed_us = ?,"
      " state = ?, mode = ?, provider = ?, config = ?, response_chain = ?, extra = ? WHERE id = ?",
      info.title, info.model, info.working_dir, session.system_prompt,
      microseconds_of(info.closed_at), to_string(info.state), info.mode, info.provider,
      session.config.text(), chain, extra, id.str()));
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

}  // namespace reprise::sqlite
