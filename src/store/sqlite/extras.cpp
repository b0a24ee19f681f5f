// Todos and artefacts.

#include <algorithm>

#include "base/text.h"
#include "reprise/capabilities.h"
#include "reprise/store.h"
#include "store/rules.h"
#include "store/sqlite/blobs.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/database.h"
#include "store/sqlite/original.h"
#include "store/sqlite/sessions.h"
#include "store/sqlite/sqlite_store.h"

namespace reprise::sqlite {
namespace {

Result<std::vector<Todo>> find_todos(Connection& connection, const SessionId& id) {
  REPRISE_TRY(require_session(connection, id));
  REPRISE_ASSIGN(
      Statement row,
      connection.query("SELECT items FROM reprise_todos WHERE session_id = ?", id.str()));
  REPRISE_ASSIGN(const bool found, row.step());
  if (!found) {
    return std::vector<Todo>{};
  }
  auto todos = todos_from_json(row.bytes("items"));
  return todos ? std::move(todos)
               : fail_with_context(cat("todos of session ", id.str()), todos.error());
}

Result<> add_pieces(Connection& connection, const SessionId& id, Step step, std::string_view name,
                    std::string_view bytes) {
  return each_piece(bytes, [&](std::string_view piece) {
    return connection.run(
        "INSERT INTO reprise_artefacts(session_id, step, name, n, bytes) VALUES(?1, ?2, ?3,"
        " (SELECT coalesce(max(n) + 1, 0) FROM reprise_artefacts"
        "  WHERE session_id = ?1 AND step = ?2 AND name = ?3), ?4)",
        id.str(), step.value, name, Blob{piece});
  });
}

Result<std::optional<std::string>> read_artefact(Connection& connection, const SessionId& id,
                                                 Step step, std::string_view name) {
  REPRISE_TRY(require_session(connection, id));
  if (is_snapshot(step, name)) {
    REPRISE_ASSIGN(auto snapshot, find_snapshot(connection, id));
    if (snapshot) {
      return snapshot;
    }
  }
  REPRISE_ASSIGN(Statement row,
                 connection.query("SELECT bytes FROM reprise_artefacts WHERE session_id = ?"
                                  " AND step = ? AND name = ? ORDER BY n",
                                  id.str(), step.value, name));
  std::optional<std::string> bytes;
  REPRISE_TRY(row.each([&] {
    bytes = std::move(bytes).value_or("");
    *bytes += row.bytes("bytes");
  }));
  return bytes;
}

Result<std::vector<Artefacts::Entry>> read_entries(Connection& connection, const SessionId& id) {
  REPRISE_TRY(require_session(connection, id));
  REPRISE_ASSIGN(
      Statement row,
      connection.query("SELECT step, name, sum(length(bytes)) AS size FROM reprise_artefacts"
                       " WHERE session_id = ? GROUP BY step, name ORDER BY step, name",
                       id.str()));
  std::vector<Artefacts::Entry> entries;
  REPRISE_TRY(row.each([&] {
    entries.push_back(
        {Step{row.integer("step")}, std::string(row.bytes("name")), row.integer("size")});
  }));
  REPRISE_ASSIGN(const auto snapshot, find_snapshot(connection, id));
  if (snapshot) {
    std::erase_if(
        entries, [](const Artefacts::Entry& entry) { return is_snapshot(entry.step, entry.name); });
    const Artefacts::Entry entry{Step{0}, std::string(kSnapshotName), std::ssize(*snapshot)};
    const auto after = std::ranges::find_if(entries, [&entry](const Artefacts::Entry& other) {
      return std::pair(other.step.value, other.name) > std::pair(entry.step.value, entry.name);
    });
    entries.insert(after, entry);
  }
  return entries;
}

}  // namespace

Result<std::vector<Todo>> SqliteStore::todos(const SessionId& id) {
  return database_.read([&](const Database::Reader& reader) { return find_todos(*reader, id); });
}

Result<std::vector<Todo>> SqliteStore::edit_todos(
    const SessionId& id, const std::function<Result<>(std::vector<Todo>&)>& edit) {
  return database_.write(
      Durability::disk, [&](Connection& connection) -> Result<std::vector<Todo>> {
        REPRISE_ASSIGN(auto todos, find_todos(connection, id));
        REPRISE_TRY(edit(todos));
        const std::string items = todos_to_json(todos);
        REPRISE_TRY(
            connection.run("INSERT INTO reprise_todos(session_id, items) VALUES(?, ?)"
                           " ON CONFLICT(session_id) DO UPDATE SET items = excluded.items",
                           id.str(), items));
        return todos;
      });
}

Result<> SqliteStore::save_artefact(const SessionId& id, Step step, std::string_view name,
                                    std::string_view bytes) {
  REPRISE_TRY(store::check_artefact(step, name));
  return database_.write(Durability::disk, [&](Connection& connection) -> Result<> {
    REPRISE_TRY(require_session(connection, id));
    if (is_snapshot(step, name)) {
      REPRISE_ASSIGN(const bool is_saved, save_snapshot(connection, id, bytes));
      if (is_saved) {
        return {};
      }
    }
    REPRISE_TRY(connection.run(
        "DELETE FROM reprise_artefacts WHERE session_id = ? AND step = ? AND name = ?", id.str(),
        step.value, name));
    return add_pieces(connection, id, step, name, bytes);
  });
}

Result<> SqliteStore::append_artefact(const SessionId& id, Step step, std::string_view name,
                                      std::string_view bytes) {
  REPRISE_TRY(store::check_artefact(step, name));
  return database_.write(Durability::os, [&](Connection& connection) -> Result<> {
    REPRISE_TRY(require_session(connection, id));
    return add_pieces(connection, id, step, name, bytes);
  });
}

Result<std::optional<std::string>> SqliteStore::find_artefact(const SessionId& id, Step step,
                                                              std::string_view name) {
  REPRISE_TRY(store::check_artefact(step, name));
  return database_.read(
      [&](const Database::Reader& reader) { return read_artefact(*reader, id, step, name); });
}

Result<std::vector<Artefacts::Entry>> SqliteStore::list_artefacts(const SessionId& id) {
  return database_.read([&](const Database::Reader& reader) { return read_entries(*reader, id); });
}

}  // namespace reprise::sqlite
