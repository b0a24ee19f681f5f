// Finds the changes since a position by rowids.

#include <array>
#include <charconv>
#include <string>

#include "base/encode.h"
#include "base/text.h"
#include "reprise/capabilities.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/database.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/sqlite_store.h"

namespace reprise::sqlite {
namespace {

// New rows have the highest rowids. So the last session and message at the earlier position
// determine what is new, provided both still have their rowids: rows that were removed, or
// renumbered by VACUUM, are detected there or by the number of sessions. A replacement moves
// messages to a retained session, whose row is new, too, and which records their rowids; no new
// message has one of these (messages.cpp). A session that moves to another folder gets a new rowid
// (update_session). Only the trash needs a check of its own.
struct Position {
  std::int64_t sessions = 0;
  std::int64_t last_session = 0;  // a rowid; 0 for none
  std::int64_t session_name = 0;  // a hash
  std::int64_t last_message = 0;  // likewise
  std::int64_t message_name = 0;
  std::int64_t last_kept = 0;
  std::int64_t trash = 0;  // a hash
  friend bool operator==(const Position&, const Position&) = default;
};

constexpr std::string_view kFormatVersion = "2";
constexpr auto kParts =
    std::array{&Position::sessions,     &Position::last_session, &Position::session_name,
               &Position::last_message, &Position::message_name, &Position::last_kept,
               &Position::trash};

std::string format(const Position& position) {
  std::string text(kFormatVersion);
  for (const auto part : kParts) {
    text += cat(" ", position.*part);
  }
  return text;
}

std::optional<Position> parse(std::string_view text) {
  if (!text.starts_with(kFormatVersion)) {
    return std::nullopt;
  }
  text.remove_prefix(kFormatVersion.size());
  Position position;
  for (const auto part : kParts) {
    if (!text.starts_with(' ')) {
      return std::nullopt;
    }
    text.remove_prefix(1);
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), position.*part);
    if (error != std::errc()) {
      return std::nullopt;
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
  return text.empty() ? std::optional(position) : std::nullopt;
}

std::int64_t hash_of(std::string_view text) {
  return static_cast<std::int64_t>(fnv1a(text));
}

// 0 if the row no longer exists.
Result<std::int64_t> session_name(Connection& connection, std::int64_t row) {
  REPRISE_ASSIGN(Statement found, connection.query("SELECT id FROM sessions WHERE rowid = ?", row));
  REPRISE_ASSIGN(const bool exists, found.step());
  return exists ? hash_of(found.bytes("id")) : 0;
}

// A hash of the session to which the message was appended.
Result<std::int64_t> message_name(Connection& connection, std::int64_t row) {
  REPRISE_ASSIGN(
      Statement found,
      connection.query("SELECT session_id AS session, seq, created_us FROM messages WHERE id = ?1"
                       " UNION ALL SELECT k.kept_for, m.seq, m.created_us"
                       " FROM reprise_kept_messages AS m JOIN reprise_kept AS k"
                       " ON k.id = m.session_id WHERE m.message = ?1",
                       row));
  REPRISE_ASSIGN(const bool exists, found.step());
  return exists ? hash_of(cat(found.bytes("session"), " ", found.integer("seq"), " ",
                              found.integer("created_us")))
                : 0;
}

Result<std::vector<SessionId>> read_trash(Connection& connection) {
  std::vector<SessionId> trashed;
  REPRISE_ASSIGN(const std::vector<std::string> ids,
                 connection.texts("SELECT id FROM sessions WHERE state = 'trashed' ORDER BY id"));
  for (const std::string& text : ids) {
    if (auto id = SessionId::parse(text)) {
      trashed.push_back(*std::move(id));
    }
  }
  return trashed;
}

std::int64_t hash_of(const std::vector<SessionId>& ids) {
  std::string text;
  for (const SessionId& id : ids) {
    text += cat(id.str(), "\n");
  }
  return hash_of(text);
}

Result<Position> position_now(Connection& connection, const std::vector<SessionId>& trashed) {
  Position now;
  REPRISE_ASSIGN(now.sessions, connection.integer("SELECT count(*) FROM sessions"));
  REPRISE_ASSIGN(now.last_session, connection.integer("SELECT max(rowid) FROM sessions"));
  REPRISE_ASSIGN(now.last_message,
                 connection.integer("SELECT max(coalesce((SELECT max(id) FROM messages), 0),"
                                    " coalesce((SELECT max(message)"
                                    " FROM reprise_kept_messages), 0))"));
  REPRISE_ASSIGN(now.last_kept, connection.integer("SELECT max(rowid) FROM reprise_kept"));
  REPRISE_ASSIGN(now.session_name, session_name(connection, now.last_session));
  REPRISE_ASSIGN(now.message_name, message_name(connection, now.last_message));
  now.trash = hash_of(trashed);
  return now;
}

// Whether all rows of the earlier position still exist with the same rowids.
Result<bool> is_unchanged(Connection& connection, const Position& then, const Position& now) {
  REPRISE_ASSIGN(
      const std::int64_t added,
      connection.integer("SELECT count(*) FROM sessions WHERE rowid > ?", then.last_session));
  REPRISE_ASSIGN(const std::int64_t session, session_name(connection, then.last_session));
  REPRISE_ASSIGN(const std::int64_t message, message_name(connection, then.last_message));
  return now.sessions == then.sessions + added && session == then.session_name &&
         message == then.message_name;
}

// nullopt if a row cannot be read.
Result<std::optional<std::vector<SessionInfo>>> read_changed(Connection& connection,
                                                             const Position& then) {
  static const std::string sql =
      cat("SELECT ", info_select(),
          " FROM (SELECT session_id AS id FROM messages WHERE id > ? UNION"
          " SELECT id FROM sessions WHERE rowid > ? UNION"
          " SELECT kept_for FROM reprise_kept WHERE rowid > ?) AS l"
          " CROSS JOIN sessions AS s ON s.id = l.id"
          " LEFT JOIN reprise_answers AS a ON a.session_id = s.id AND a.n = 0");
  REPRISE_ASSIGN(Statement row,
                 connection.query(sql, then.last_message, then.last_session, then.last_kept));
  std::vector<SessionInfo> changed;
  while (true) {
    REPRISE_ASSIGN(const bool has_row, row.step());
    if (!has_row) {
      return changed;
    }
    InfoRow read = read_info(row, connection.name());
    if (!read.info) {
      return std::nullopt;
    }
    changed.push_back(*std::move(read.info));
  }
}

Result<SessionChanges> find_changes(Connection& connection, std::string_view position) {
  REPRISE_ASSIGN(Transaction snapshot, Transaction::begin(connection, "BEGIN"));
  REPRISE_ASSIGN(std::vector<SessionId> trashed, read_trash(connection));
  REPRISE_ASSIGN(const Position now, position_now(connection, trashed));
  SessionChanges changes{.position = format(now)};
  const std::optional<Position> then = parse(position);
  if (!then) {
    return changes;
  }
  REPRISE_ASSIGN(const bool unchanged, is_unchanged(connection, *then, now));
  if (!unchanged) {
    return changes;
  }
  REPRISE_ASSIGN(auto sessions, read_changed(connection, *then));
  if (sessions) {
    changes.is_known = true;
    changes.sessions = *std::move(sessions);
    changes.trashed = then->trash == now.trash ? std::nullopt : std::optional(std::move(trashed));
  }
  REPRISE_TRY(snapshot.commit());
  return changes;
}

}  // namespace

Result<SessionChanges> SqliteStore::changes_since(std::string_view position) {
  return database_.read([&](const Database::Reader& reader) -> Result<SessionChanges> {
    return reader.is_salvaged() ? SessionChanges() : find_changes(*reader, position);
  });
}

}  // namespace reprise::sqlite
