// The store over one SQLite database (docs/formats/sqlite.md): its parts, put together.

#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "reprise/error.h"
#include "reprise/message.h"
#include "reprise/open_store.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "reprise/store_offers.h"
#include "reprise/types.h"
#include "store/facts.h"
#include "store/own_process.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/copy.h"
#include "store/sqlite/database.h"
#include "store/sqlite/forks.h"
#include "store/sqlite/list.h"
#include "store/sqlite/messages.h"
#include "store/sqlite/offers.h"
#include "store/sqlite/read.h"
#include "store/sqlite/sessions.h"

namespace reprise {
namespace {

using sqlite::Connection;
using sqlite::Database;

Result<> create_session(Database& database, const Session& session, Durability durability) {
  REPRISE_TRY(store::check_new_session(session));
  return database.write(durability, [&](Connection& connection) {
    return sqlite::insert_session(connection, session, {});
  });
}

class SqliteBeginning final : public Beginning {
 public:
  explicit SqliteBeginning(Database& database) : database_(database) {}

  Result<> begin(const Session& session) override {
    return create_session(database_, session, Durability::os);
  }

 private:
  Database& database_;
};

class SqliteRewriting final : public Rewriting {
 public:
  explicit SqliteRewriting(Database& database) : database_(database) {}

  Result<Appended> replace_suffix(const SessionId& id, Seq from, std::vector<Message> messages,
                                  AppendOptions options) override {
    const sqlite::Batch batch = sqlite::make_batch(messages, options);
    return database_.write_for<Appended>(options.durability, [&](Connection& connection) {
      return sqlite::replace_messages(connection, id, from, batch);
    });
  }

  Result<std::int64_t> count_replaced(const SessionId& id) override {
    REPRISE_ASSIGN(const Database::Reader reader, database_.reader());
    return sqlite::count_replaced(*reader, id);
  }

 private:
  Database& database_;
};

class SqliteForking final : public Forking {
 public:
  explicit SqliteForking(Database& database) : database_(database) {}

  Result<> fork(const SessionId& parent, Seq at, const Session& child) override {
    REPRISE_TRY(store::check_new_session(child));
    return database_.write(Durability::disk, [&](Connection& connection) {
      return sqlite::fork_session(connection, parent, at, child);
    });
  }

 private:
  Database& database_;
};

class SqliteBackup final : public Backup {
 public:
  explicit SqliteBackup(Database& database) : database_(database) {}

  Result<> backup(const std::filesystem::path& target) override {
    REPRISE_ASSIGN(const Database::Reader reader, database_.reader());
    return sqlite::copy_database(*reader, target, target);
  }

 private:
  Database& database_;
};

class SqliteStore final : public Store {
 public:
  explicit SqliteStore(std::unique_ptr<Database> database)
      : database_(std::move(database)),
        beginning_(*database_),
        rewriting_(*database_),
        forking_(*database_),
        backup_(*database_),
        partials_(sqlite::make_partials(*database_)),
        todos_(sqlite::make_todos(*database_)),
        artefacts_(sqlite::make_artefacts(*database_)),
        blobs_(sqlite::make_blobs(*database_)),
        trash_(sqlite::make_trash(*database_)),
        repair_(sqlite::make_repair(*database_)) {
    offers_ = {.beginning = &beginning_,
               .rewriting = &rewriting_,
               .forking = &forking_,
               .partials = partials_.get(),
               .todos = todos_.get(),
               .artefacts = artefacts_.get(),
               .blobs = blobs_.get(),
               .trash = trash_.get(),
               .verifying = repair_.get(),
               .repair = repair_.get(),
               .backup = &backup_};
  }

  Result<> create(const Session& session) override {
    return create_session(*database_, session, Durability::disk);
  }

  Result<std::optional<Session>> find(const SessionId& id) override {
    REPRISE_ASSIGN(const Database::Reader reader, database_->reader());
    return sqlite::find_session(*reader, id);
  }

  Result<> update(const SessionId& id, const SessionPatch& patch) override {
    return database_->write(Durability::disk, [&](Connection& connection) {
      return sqlite::update_session(connection, id, patch);
    });
  }

  Result<SessionPage> list(const SessionQuery& query) override {
    REPRISE_ASSIGN(const Database::Reader reader, database_->reader());
    return sqlite::list_sessions(*reader, query);
  }

  Result<Appended> append(const SessionId& id, std::vector<Message> messages,
                          AppendOptions options) override {
    const sqlite::Batch batch = sqlite::make_batch(messages, options);
    return database_->write_for<Appended>(options.durability, [&](Connection& connection) {
      return sqlite::append_messages(connection, id, batch);
    });
  }

  Result<ReadReport> read(const SessionId& id, ReadRange range, const MessageSink& sink) override {
    return sqlite::read_messages(*database_, id, range, sink);
  }

  StoreHolds holds() const override { return {}; }
  const StoreOffers& offers() const override { return offers_; }

 private:
  std::unique_ptr<Database> database_;
  SqliteBeginning beginning_;
  SqliteRewriting rewriting_;
  SqliteForking forking_;
  SqliteBackup backup_;
  std::unique_ptr<Partials> partials_;
  std::unique_ptr<Todos> todos_;
  std::unique_ptr<Artefacts> artefacts_;
  std::unique_ptr<Blobs> blobs_;
  std::unique_ptr<Trash> trash_;
  std::unique_ptr<Repair> repair_;
  StoreOffers offers_;
};

}  // namespace

Result<std::unique_ptr<Store>> open_sqlite_store(const std::filesystem::path& file,
                                                 const StoreOptions& options) {
  REPRISE_ASSIGN(auto database, Database::open(file, options));
  return store::in_own_process(std::make_unique<SqliteStore>(std::move(database)));
}

}  // namespace reprise
