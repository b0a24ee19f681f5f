#include "store/sqlite/sqlite_store.h"

#include <sqlite3.h>

#include "base/text.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "store/call.h"
#include "store/provide.h"
#include "store/rules.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/copy.h"
#include "store/sqlite/database.h"
#include "store/sqlite/sessions.h"

namespace reprise {
namespace sqlite {

Result<> SqliteStore::create(const Session& session, Durability durability) {
  REPRISE_TRY(store::check_new_session(session));
  return database_.write(
      durability, [&](Connection& connection) { return insert_session(connection, session, {}); });
}

Result<> SqliteStore::create(const Session& session) {
  return create(session, Durability::disk);
}

Result<std::optional<Session>> SqliteStore::find(const SessionId& id) {
  return database_.read([&](const Database::Reader& reader) { return find_session(*reader, id); });
}

Result<> SqliteStore::update(const SessionId& id, const SessionPatch& patch) {
  return database_.write(Durability::disk, [&](Connection& connection) {
    return update_session(connection, id, patch);
  });
}

Result<AppendResult> SqliteStore::append(const SessionId& id, std::vector<Message> messages,
                                         AppendOptions options) {
  const Batch batch = make_batch(messages, options);
  return database_.write(options.durability, [&](Connection& connection) {
    return append_messages(connection, id, batch);
  });
}

Result<> SqliteStore::begin(const Session& session) {
  return create(session, Durability::os);
}

Result<AppendResult> SqliteStore::replace_suffix(const SessionId& id, Seq from,
                                                 std::vector<Message> messages,
                                                 AppendOptions options) {
  const Batch batch = make_batch(messages, options);
  return database_.write(options.durability, [&](Connection& connection) {
    return replace_messages(connection, id, from, batch);
  });
}

Result<std::int64_t> SqliteStore::count_replaced(const SessionId& id) {
  return database_.read(
      [&](const Database::Reader& reader) { return sqlite::count_replaced(*reader, id); });
}

Result<> SqliteStore::fork(const SessionId& parent, Seq at, const Session& child) {
  REPRISE_TRY(store::check_new_session(child));
  return database_.write(Durability::disk, [&](Connection& connection) {
    return fork_session(connection, parent, at, child);
  });
}

Result<> SqliteStore::backup(const std::filesystem::path& target) {
  return database_.read([&](const Database::Reader& reader) -> Result<> {
    if (reader.is_salvaged()) {  // a backup must be complete
      return std::unexpected(error_of(SQLITE_CORRUPT, 0, "", database_.file()));
    }
    return copy_database(*reader, target, target, database_.progress(),
                         [&] { return reader.check_unchanged(); });
  });
}

}  // namespace sqlite

Result<std::unique_ptr<Store>> open_sqlite_store(const std::filesystem::path& file,
                                                 const StoreOptions& options) {
  REPRISE_ASSIGN(auto database, sqlite::Database::open(file, options));
  return store::guard(std::make_unique<sqlite::SqliteStore>(std::move(database)),
                      store::CallOptions(options));
}

}  // namespace reprise
