// Todos and artefacts.

#include "base/text.h"
#include "base/utf8.h"
#include "reprise/capabilities.h"
#include "store/postgres/connection.h"
#include "store/postgres/database.h"
#include "store/postgres/postgres_store.h"
#include "store/postgres/rows.h"
#include "store/postgres/sessions.h"
#include "store/postgres/statements.h"
#include "store/postgres/values.h"
#include "store/rules.h"

namespace reprise::postgres {
namespace {

constexpr std::string_view kTodos = "todos";

Result<std::vector<Todo>> todos_in(const Rows& rows, const SessionId& id) {
  if (rows.empty()) {
    return std::vector<Todo>{};
  }
  auto todos = todos_from_json(joined(rows));
  return todos ? std::move(todos)
               : fail_with_context(cat("todos of session ", id.str()), todos.error());
}

// The server accepts only valid text.
Result<> check_name(Step step, std::string_view name) {
  REPRISE_TRY(store::check_artefact(step, name));
  if (!utf8::is_valid(name)) {
    return fail(Code::invalid_argument, "an artefact's name must be UTF-8 here");
  }
  return {};
}

struct Addition {
  Step step;
  std::string_view name;
  std::string_view bytes;
};

std::vector<Query> queries_of(const Key& key, const Addition& addition, std::int64_t last) {
  const auto& [step, name, bytes] = addition;
  std::vector<Query> queries;
  for (const std::string& piece : pieces_of(bytes)) {
    queries.push_back({kInsertArtefact, values_of(key, step.value, name, ++last, piece)});
  }
  return queries;
}

Result<> store_artefact(Database& database, const SessionId& id, const Addition& addition,
                        bool replaces) {
  REPRISE_TRY(check_name(addition.step, addition.name));
  const Key key{database.tenant(), id};
  const std::string operation = operation_name();
  const auto artefact = values_of(key, addition.step.value, addition.name);
  return database.write([&](Connection& connection, bool) -> Result<> {
    REPRISE_ASSIGN(const Locked locked, lock_session(connection, key,
                                                     {{kFindOnce, values_of(key, operation)},
                                                      {kFindArtefactEnd, artefact}}));
    std::vector<Query> queries;
    if (locked.rows[0].empty()) {
      if (replaces) {
        queries.push_back({kDeleteArtefact, artefact});
      }
      const auto added =
          queries_of(key, addition, replaces ? 0 : locked.rows[1].integer(0, "last"));
      queries.insert(queries.end(), added.begin(), added.end());
      queries.push_back({kInsertOnce, values_of(key, operation)});
    }
    queries.push_back({kCommit});
    return connection.execute(queries);
  });
}

}  // namespace

Result<std::vector<Todo>> PostgresStore::todos(const SessionId& id) {
  const Key key{database_.tenant(), id};
  return database_.read([&](Connection& connection) -> Result<std::vector<Todo>> {
    REPRISE_ASSIGN(const auto rows, connection.run({{kFindState, values_of(key)},
                                                    {kFindValue, values_of(key, kTodos)}}));
    if (rows[0].empty()) {
      return std::unexpected(store::no_session(id));
    }
    return todos_in(rows[1], id);
  });
}

Result<std::vector<Todo>> PostgresStore::edit_todos(
    const SessionId& id, const std::function<Result<>(std::vector<Todo>&)>& edit) {
  const Key key{database_.tenant(), id};
  const std::string name = operation_name();
  return database_.write([&](Connection& connection, bool) -> Result<std::vector<Todo>> {
    REPRISE_ASSIGN(const Locked locked, lock_session(connection, key,
                                                     {{kFindOnce, values_of(key, name)},
                                                      {kFindValue, values_of(key, kTodos)}}));
    REPRISE_ASSIGN(auto todos, todos_in(locked.rows[1], id));
    std::vector<Query> queries;
    if (locked.rows[0].empty()) {
      REPRISE_TRY(edit(todos));
      set_value(queries, key, kTodos, todos_to_json(todos));
      queries.push_back({kInsertOnce, values_of(key, name)});
    }
    queries.push_back({kCommit});
    REPRISE_TRY(connection.run(queries));
    return todos;
  });
}

Result<> PostgresStore::save_artefact(const SessionId& id, Step step, std::string_view name,
                                      std::string_view bytes) {
  return store_artefact(database_, id, {step, name, bytes}, true);
}

Result<> PostgresStore::append_artefact(const SessionId& id, Step step, std::string_view name,
                                        std::string_view bytes) {
  return store_artefact(database_, id, {step, name, bytes}, false);
}

Result<std::optional<std::string>> PostgresStore::find_artefact(const SessionId& id, Step step,
                                                                std::string_view name) {
  REPRISE_TRY(check_name(step, name));
  const Key key{database_.tenant(), id};
  return database_.read([&](Connection& connection) -> Result<std::optional<std::string>> {
    REPRISE_ASSIGN(const auto rows,
                   connection.run({{kFindState, values_of(key)},
                                   {kFindArtefact, values_of(key, step.value, name)}}));
    if (rows[0].empty()) {
      return std::unexpected(store::no_session(id));
    }
    return rows[1].empty() ? std::nullopt : std::optional(joined(rows[1]));
  });
}

Result<std::vector<Artefacts::Entry>> PostgresStore::list_artefacts(const SessionId& id) {
  const Key key{database_.tenant(), id};
  return database_.read([&](Connection& connection) -> Result<std::vector<Entry>> {
    REPRISE_ASSIGN(const auto rows, connection.run({{kFindState, values_of(key)},
                                                    {kListArtefacts, values_of(key)}}));
    if (rows[0].empty()) {
      return std::unexpected(store::no_session(id));
    }
    std::vector<Entry> entries;
    entries.reserve(static_cast<std::size_t>(rows[1].count()));
    for (int row = 0; row < rows[1].count(); ++row) {
      entries.push_back({Step{rows[1].integer(row, "step")}, rows[1].text(row, "name"),
                         rows[1].integer(row, "size")});
    }
    return entries;
  });
}

}  // namespace reprise::postgres
