#include <algorithm>

#include "base/assert.h"
#include "base/text.h"
#include "model/known_time.h"
#include "reprise/capabilities.h"
#include "reprise/store.h"
#include "store/rules.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/original.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/sessions.h"
#include "store/stored_json.h"
#include "store/usage_sum.h"

namespace reprise::sqlite {
namespace {

struct SessionHead {  // the session before the batch
  Seq head;
  Usage usage;                        // cache_written is only that of the batch
  std::int64_t tokens_before = 0;     // of `usage` when it was read
  std::optional<std::string> answer;  // the running answer's row
  Activity activity;                  // as rows have it
};

Result<SessionHead> read_head(Connection& connection, const SessionId& id) {
  static const std::string sql =
      cat("SELECT head, ", usage_columns(),
          ", (SELECT body FROM reprise_answers WHERE session_id = sessions.id AND n = 0) AS answer,"
          " updated_us, ahead_us FROM sessions WHERE id = ?");
  REPRISE_ASSIGN(Statement row, connection.query(sql, id.str()));
  REPRISE_ASSIGN(const bool found, row.step());
  if (!found) {
    return std::unexpected(store::no_session(id));
  }
  SessionHead session;
  session.head = Seq{row.integer("head")};
  session.usage = store::read_sums(row, "");
  session.tokens_before = tokens_of(session.usage);
  if (!row.is_null("answer")) {
    session.answer = row.bytes("answer");
  }
  session.activity.updated_at = time_of(row.integer("updated_us"));
  if (!row.is_null("ahead_us")) {
    session.activity.arrived_at = time_of(row.integer("ahead_us"));
  }
  return session;
}

Result<std::optional<AppendResult>> find_operation(Connection& connection, const SessionId& id,
                                                   const AppendOptions& options) {
  if (!options.operation) {
    return std::nullopt;
  }
  const std::string name = store::once_name(*options.operation);
  REPRISE_ASSIGN(
      Statement row,
      connection.query("SELECT first, head FROM reprise_once WHERE session_id = ? AND name = ?",
                       id.str(), name));
  REPRISE_ASSIGN(const bool found, row.step());
  if (!found) {
    return std::nullopt;
  }
  return AppendResult{Seq{row.integer("first")}, Seq{row.integer("head")}, true};
}

// The id of the running answer is needed only to end it.
Result<> check_batch(const SessionId& id, const SessionHead& session, Seq from,
                     const Batch& batch) {
  const AppendOptions& options = batch.options;
  const auto running = session.answer && options.end_partial
                           ? store::answer_from_json(*session.answer)
                           : Result<Partial>(fail(Code::not_found, "no answer is running"));
  store::AppendState state{.id = id, .head = session.head, .answer = {}};
  if (session.answer) {
    state.answer = running ? std::string_view(running->answer.str()) : std::string_view();
  }
  return store::check_append(state, from, batch.messages.size(), options);
}

// Adds the message's usage if its request was not counted yet.
Result<> count_usage(Connection& connection, const SessionId& id, const Message& message,
                     Usage& sum) {
  if (!message.usage) {
    return {};
  }
  if (!message.usage->request_id.empty()) {
    const std::string name = store::once_name_of_request(message.usage->request_id);
    REPRISE_TRY(connection.run(
        "INSERT INTO reprise_once(session_id, name) VALUES(?, ?) ON CONFLICT DO NOTHING", id.str(),
        name));
    if (connection.changes() == 0) {
      return {};
    }
  }
  store::add_usage(sum, *message.usage);
  return {};
}

// Few requests write to a cache, so this sum has a row of its own. The sum saturates.
Result<> add_cache_written(Connection& connection, const SessionId& id, TokenCount tokens) {
  if (tokens.value == 0) {
    return {};
  }
  return connection.run(
      "INSERT INTO reprise_once(session_id, name, first) VALUES(?, 'sum:cache_written', ?)"
      " ON CONFLICT(session_id, name) DO UPDATE SET"
      " first = min(first + excluded.first, 9223372036854775807)",
      id.str(), tokens.value);
}

// `now` has the times after the batch, as rows have them.
Result<> move_head(Connection& connection, const SessionId& id, Seq head, const Activity& now,
                   const SessionHead& session) {
  const std::string text = seconds_text({now.arrived_at.value_or(now.updated_at)});
  if (slot_of(now.updated_at) != slot_of(session.activity.updated_at)) {
    REPRISE_TRY(connection.run("UPDATE sessions SET updated_slot = ? WHERE id = ?",
                               slot_of(now.updated_at), id.str()));
  }
  const std::optional<std::int64_t> ahead =
      now.arrived_at ? std::optional(microseconds_of(*now.arrived_at)) : std::nullopt;
  static const std::string sql =
      cat("UPDATE sessions SET head = ?, updated_us = ?, ahead_us = ?, updated_at = ?,"
          " token_count = token_count + ?, ",
          usage_columns(" = ?"), " WHERE id = ?");
  REPRISE_ASSIGN(Statement update,
                 connection.query(sql, head.value, microseconds_of(now.updated_at), ahead, text,
                                  tokens_of(session.usage) - session.tokens_before));
  bind_usage(update, session.usage);
  update.bind(id.str());
  return update.run();
}

std::optional<std::string_view> unless_empty(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional<std::string_view>(text);
}

// An INSERT of several rows is much cheaper than one for each row.
constexpr std::size_t kRowsPerInsert = 16;

std::string insert_sql(std::size_t rows) {
  std::string sql =
      "INSERT INTO messages(id, session_id, seq, role, content, created_at, created_us, provider,"
      " model, response_id, usage, state, extra, author) VALUES";
  for (std::size_t i = 0; i < rows; ++i) {
    sql += i == 0 ? "" : ",";
    sql += "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
  }
  return sql;
}

const std::string& insert_statement(std::size_t rows) {
  static const std::string one = insert_sql(1);
  static const std::string several = insert_sql(kRowsPerInsert);
  return rows == 1 ? one : several;
}

// The formatted values of a row; they must live while they are bound.
struct FormattedRow {
  std::string created_at;
  std::optional<std::string> usage;
  std::optional<std::string> extra;
};

// `time` is that of the message or, if it is unknown, of one before it.
FormattedRow format_row(const Message& message, Time time) {
  return {
      seconds_text({time}),
      message.usage ? std::optional(usage_to_json(*message.usage)) : std::nullopt,
      message.extra.empty() ? std::nullopt : std::optional(store::extra_to_json(message.extra))};
}

// Messages of a batch that are inserted together: kRowsPerInsert, or one.
struct RowRange {
  std::size_t begin = 0;
  std::size_t count = 0;
  std::optional<std::int64_t> id;  // of the first row; nullopt for the next free one
  Time time;                       // of the message before it, if known
};

// Inserts a part of the batch; `part.time` becomes that of its last message.
Result<> insert_rows(Connection& connection, const SessionId& id, Seq first, const Batch& batch,
                     RowRange& part) {
  REPRISE_ASSIGN(Statement rows, connection.prepare(insert_statement(part.count)));
  std::vector<FormattedRow> formatted;
  formatted.reserve(part.count);  // bound values must not move
  for (std::size_t i = part.begin; i < part.begin + part.count; ++i) {
    const Message& message = batch.messages[i];
    part.time = is_known(message.created_at) ? message.created_at : part.time;
    const FormattedRow& texts = formatted.emplace_back(format_row(message, part.time));
    rows.bind(part.id)
        .bind(id.str())
        .bind(first.next(static_cast<std::int64_t>(i)).value)
        .bind(stored_role(message))
        .bind(batch.contents[i])
        .bind(texts.created_at)
        .bind(microseconds_of(message.created_at))
        .bind(unless_empty(message.provider))
        .bind(unless_empty(message.model))
        .bind(unless_empty(message.response_id))
        .bind(texts.usage)
        .bind(stored_state(message))
        .bind(texts.extra)
        .bind(message.author ? std::optional<std::string_view>(message.author->str())
                             : std::nullopt);
    part.id = part.id ? std::optional(*part.id + 1) : std::nullopt;
  }
  return rows.run();
}

Result<> end_answer(Connection& connection, const SessionId& id, const AppendOptions& options) {
  return options.end_partial
             ? connection.run("DELETE FROM reprise_answers WHERE session_id = ?", id.str())
             : Result<>();
}

Result<> begin_answer(Connection& connection, const SessionId& id, const AppendOptions& options) {
  if (!options.begin_partial) {
    return {};
  }
  const std::string body = store::answer_to_json(*options.begin_partial);
  return connection.run("INSERT INTO reprise_answers(session_id, n, body) VALUES(?, 0, ?)",
                        id.str(), body);
}

// An id behind those of replaced messages: readers of changes know these (changes.cpp).
Result<std::optional<std::int64_t>> next_row(Connection& connection) {
  REPRISE_ASSIGN(
      const std::int64_t next,
      connection.integer("SELECT CASE WHEN kept >= coalesce((SELECT max(id) FROM messages), 0)"
                         " THEN kept + 1 END"
                         " FROM (SELECT max(message) AS kept FROM reprise_kept_messages)"));
  return next > 0 ? std::optional(next) : std::nullopt;
}

Result<> insert_batch(Connection& connection, const SessionId& id, Seq first, const Batch& batch,
                      Time time) {
  const std::size_t size = batch.messages.size();
  REPRISE_ASSERT(batch.contents.size() == size);
  REPRISE_ASSIGN(const auto row, next_row(connection));
  for (RowRange part{.id = row, .time = time}; part.begin < size; part.begin += part.count) {
    part.count = size - part.begin >= kRowsPerInsert ? kRowsPerInsert : 1;
    REPRISE_TRY(insert_rows(connection, id, first, batch, part));
  }
  for (const Message& message : batch.messages) {
    REPRISE_TRY(reference_blobs(connection, id, message.blocks));
  }
  return {};
}

Result<AppendResult> write_batch(Connection& connection, const SessionId& id, Seq first,
                                 SessionHead session, const Batch& batch) {
  const AppendResult appended = store::appended_at(first, batch.messages.size());
  // First, so that the answer reuses the pages of its pieces, and each page is written once.
  REPRISE_TRY(end_answer(connection, id, batch.options));
  if (!batch.messages.empty()) {
    REPRISE_TRY(move_snapshot_to_artefacts(connection, id));
    for (const Message& message : batch.messages) {
      REPRISE_TRY(count_usage(connection, id, message, session.usage));
    }
    Activity now = session.activity;
    exchange_activity(now);
    note_activity(now, batch.messages, batch.options.now);
    const Time activity = now.updated_at;
    exchange_activity(now);
    REPRISE_TRY(move_head(connection, id, appended.head, now, session));
    REPRISE_TRY(add_cache_written(connection, id, session.usage.cache_written));
    REPRISE_TRY(insert_batch(connection, id, first, batch, activity));
  }
  REPRISE_TRY(begin_answer(connection, id, batch.options));
  if (batch.options.operation) {
    const std::string name = store::once_name(*batch.options.operation);
    REPRISE_TRY(
        connection.run("INSERT INTO reprise_once(session_id, name, first, head) VALUES(?, ?, ?, ?)",
                       id.str(), name, appended.first.value, appended.head.value));
  }
  return appended;
}

}  // namespace

Batch make_batch(const std::vector<Message>& messages, const AppendOptions& options) {
  Batch batch{messages, options, {}};
  batch.contents.reserve(messages.size());
  for (const Message& message : messages) {
    batch.contents.push_back(blocks_to_json(message.blocks));
  }
  return batch;
}

Result<AppendResult> append_messages(Connection& connection, const SessionId& id,
                                     const Batch& batch) {
  REPRISE_ASSIGN(SessionHead session, read_head(connection, id));
  REPRISE_ASSIGN(const auto done, find_operation(connection, id, batch.options));
  if (done) {
    return *done;
  }
  const Seq first = session.head;
  REPRISE_TRY(check_batch(id, session, first, batch));
  return write_batch(connection, id, first, std::move(session), batch);
}

Result<AppendResult> replace_messages(Connection& connection, const SessionId& id, Seq from,
                                      const Batch& batch) {
  REPRISE_ASSIGN(SessionHead session, read_head(connection, id));
  REPRISE_ASSIGN(const auto done, find_operation(connection, id, batch.options));
  if (done) {
    return *done;
  }
  REPRISE_TRY(check_batch(id, session, from, batch));
  if (from < session.head) {
    REPRISE_TRY(retain_suffix(connection, id, from));
  }
  return write_batch(connection, id, from, std::move(session), batch);
}

Result<> reference_blobs(Connection& connection, const SessionId& id,
                         const std::vector<Block>& blocks) {
  for (const BlobHash& hash : store::blobs_in(blocks)) {
    REPRISE_TRY(connection.run(
        "INSERT INTO reprise_blob_refs(session_id, hash) VALUES(?, ?) ON CONFLICT DO NOTHING",
        id.str(), hash.str()));
  }
  return {};
}

}  // namespace reprise::sqlite
