#include <algorithm>

#include "base/text.h"
#include "reprise/session.h"
#include "store/rules.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/sessions.h"

namespace reprise::sqlite {
namespace {

constexpr int kChainMax = 1'000'000;

struct BaseRow {
  std::optional<std::string> base;
  std::int64_t base_count;
  bool is_kept;
};

Result<std::optional<BaseRow>> find_base(Connection& connection, std::string_view session) {
  REPRISE_ASSIGN(Statement row,
                 connection.query("SELECT base, base_count, 0 AS kept FROM sessions WHERE id = ?1"
                                  " UNION ALL SELECT base, base_count, 1 FROM reprise_kept"
                                  " WHERE id = ?1",
                                  session));
  REPRISE_ASSIGN(const bool found, row.step());
  if (!found) {
    return std::nullopt;
  }
  BaseRow out{std::nullopt, row.integer("base_count"), row.integer("kept") != 0};
  if (!row.is_null("base")) {
    out.base = row.bytes("base");
  }
  return out;
}

// Finds the session whose own rows extend to `at`, so that chains are as short as possible.
Result<Base> base_for(Connection& connection, std::string session, Seq at) {
  if (at.value == 0) {
    return Base{std::nullopt, at};
  }
  for (int depth = 0; depth < kChainMax; ++depth) {
    REPRISE_ASSIGN(auto row, find_base(connection, session));
    if (!row || !row->base || at.value > row->base_count) {
      break;
    }
    session = *std::move(row->base);
  }
  return Base{std::move(session), at};
}

// Whether the original program made the database: our columns were added behind its own.
Result<bool> is_of_original(Connection& connection) {
  REPRISE_ASSIGN(
      const std::int64_t found,
      connection.integer("SELECT count(*) FROM pragma_table_info('messages', 'main') AS a"
                         " JOIN pragma_table_info('messages', 'main') AS b"
                         " ON a.name = 'content' AND b.name = 'created_us'"
                         " AND a.cid < b.cid"));
  return found > 0;
}

constexpr std::string_view kCopiedColumns =
    "seq, role, content, created_at, created_us, provider, model, response_id, state, extra,"
    " author";

// The usage of these requests is counted in the parent.
Result<> copy_rows(Connection& connection, const SessionId& parent, Seq at,
                   const SessionId& child) {
  REPRISE_ASSIGN(const auto segments, segments_of(connection, parent.str(), 0, at.value));
  for (const Segment& segment : segments) {
    REPRISE_TRY(connection.run(cat("INSERT INTO messages(session_id, ", kCopiedColumns,
                                   ") SELECT ?, ", kCopiedColumns, " FROM ", table_of(segment),
                                   " WHERE session_id = ? AND seq >= ? AND seq < ? ORDER BY seq"),
                               child.str(), segment.session, segment.from, segment.to));
    REPRISE_TRY(connection.run(
        "INSERT OR IGNORE INTO reprise_blob_refs(session_id, hash) SELECT ?1, hash FROM"
        " reprise_blob_refs AS r WHERE session_id = ?2 AND EXISTS (SELECT 1 FROM messages AS m"
        " WHERE m.session_id = ?1 AND instr(m.content, r.hash) > 0)",
        child.str(), segment.session));
  }
  return connection.run("UPDATE sessions SET base_count = 0 WHERE id = ?", child.str());
}

// Moves the session's rows from `from` on.
Result<> move_to_kept(Connection& connection, const SessionId& id, std::int64_t from,
                      std::string_view retained) {
  REPRISE_TRY(connection.run(cat("INSERT INTO reprise_kept_messages(message, session_id, usage, ",
                                 kCopiedColumns, ") SELECT id, ?, usage, ", kCopiedColumns,
                                 " FROM messages WHERE session_id = ? AND seq >= ? ORDER BY seq"),
                             retained, id.str(), from));
  return connection.run("DELETE FROM messages WHERE session_id = ? AND seq >= ?", id.str(), from);
}

}  // namespace

std::string_view table_of(const Segment& segment) {
  return segment.is_kept ? kKeptMessagesTable : "messages";
}

Result<std::vector<Segment>> segments_of(Connection& connection, std::string_view session,
                                         std::int64_t from, std::int64_t to) {
  std::vector<Segment> segments;
  std::string current(session);
  for (int depth = 0; depth < kChainMax; ++depth) {
    REPRISE_ASSIGN(auto row, find_base(connection, current));
    // Without a base, all rows are the session's own; a missing base has no rows.
    const std::int64_t own_from = row && row->base ? std::max(from, row->base_count) : from;
    if (own_from < to) {
      segments.push_back({current, own_from, to, row && row->is_kept});
    }
    to = std::min(to, own_from);
    if (!row || !row->base || from >= to) {
      std::ranges::reverse(segments);
      return segments;
    }
    current = *std::move(row->base);
  }
  return fail(Code::corrupt,
              cat("session ", session, " is forked from itself: run `reprise verify`"));
}

std::string retained_name(std::string_view session, std::int64_t generation) {
  return cat(session, "~", generation);
}

Result<> retain_suffix(Connection& connection, const SessionId& id, Seq from) {
  REPRISE_ASSIGN(const auto row, find_base(connection, id.str()));
  if (!row) {
    return std::unexpected(store::no_session(id));
  }
  REPRISE_ASSIGN(const std::int64_t generation,
                 connection.integer("SELECT generation FROM sessions WHERE id = ?", id.str()));
  const std::string retained = retained_name(id.str(), generation);
  // The retained session begins with the moved rows; before them, it shares what the session
  // shared.
  const bool in_own_rows = !row->base || from.value >= row->base_count;
  const std::int64_t moved_from = in_own_rows ? from.value : row->base_count;
  const std::optional<std::string> retained_base =
      in_own_rows ? (moved_from > 0 ? std::optional(id.str()) : std::nullopt) : row->base;
  REPRISE_TRY(
      connection.run("INSERT INTO reprise_kept(id, kept_for, base, base_count, head)"
                     " SELECT ?1, id, ?2, ?3, head FROM sessions WHERE id = ?4",
                     retained, retained_base, moved_from, id.str()));
  REPRISE_TRY(move_to_kept(connection, id, moved_from, retained));
  for (const std::string_view table : {std::string_view("sessions"), kKeptTable}) {
    REPRISE_TRY(connection.run(
        cat("UPDATE ", table, " SET base = ?1 WHERE base = ?2 AND base_count > ?3 AND id <> ?1"),
        retained, id.str(), from.value));
  }
  REPRISE_TRY(
      connection.run("UPDATE sessions SET head = ?, generation = generation + 1 WHERE id = ?",
                     from.value, id.str()));
  if (in_own_rows) {
    return {};
  }
  REPRISE_ASSIGN(const Base base, base_for(connection, *row->base, from));
  return connection.run("UPDATE sessions SET base = ?, base_count = ? WHERE id = ?", base.session,
                        base.count.value, id.str());
}

Result<std::int64_t> count_replaced(Connection& connection, const SessionId& id) {
  REPRISE_TRY(require_session(connection, id));
  return connection.integer(
      "SELECT count(*) FROM reprise_kept_messages WHERE session_id IN"
      " (SELECT id FROM reprise_kept WHERE kept_for = ?)",
      id.str());
}

Result<> fork_session(Connection& connection, const SessionId& parent, Seq at,
                      const Session& child) {
  REPRISE_TRY(require_session(connection, parent));
  REPRISE_ASSIGN(const std::int64_t head,
                 connection.integer("SELECT head FROM sessions WHERE id = ?", parent.str()));
  REPRISE_TRY(store::check_fork(parent, Seq{head}, at));
  REPRISE_ASSIGN(const bool is_copied, is_of_original(connection));
  REPRISE_ASSIGN(const Base base, is_copied ? Result<Base>(Base{std::nullopt, at})
                                            : base_for(connection, parent.str(), at));
  Session forked = child;
  forked.info.forked_from = ForkOrigin{parent, at};
  REPRISE_TRY(insert_session(connection, forked, base));
  REPRISE_TRY(is_copied ? copy_rows(connection, parent, at, child.info.id) : Result<>());
  if (at.value < head) {
    return {};
  }
  // As in forks by the original program: it depends on the session's messages.
  return connection.run(
      "UPDATE sessions SET token_count = (SELECT token_count FROM sessions WHERE id = ?)"
      " WHERE id = ?",
      parent.str(), child.info.id.str());
}

}  // namespace reprise::sqlite
