// The store over one PostgreSQL database (docs/formats/postgres.md): its parts, put together.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "reprise/error.h"
#include "reprise/message.h"
#include "reprise/open_store.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "reprise/store_offers.h"
#include "reprise/types.h"
#include "store/facts.h"
#include "store/own_process.h"
#include "store/postgres/branches.h"
#include "store/postgres/connection.h"
#include "store/postgres/database.h"
#include "store/postgres/list.h"
#include "store/postgres/messages.h"
#include "store/postgres/offers.h"
#include "store/postgres/read.h"
#include "store/postgres/sessions.h"
#include "store/postgres/statements.h"

namespace reprise {
namespace {

using postgres::Connection;
using postgres::Database;
using postgres::Key;

class PostgresRewriting final : public Rewriting {
 public:
  explicit PostgresRewriting(Database& database) : database_(database) {}

  Result<Appended> replace_suffix(const SessionId& id, Seq from, std::vector<Message> messages,
                                  AppendOptions options) override {
    REPRISE_ASSIGN(const postgres::Batch batch, postgres::make_batch(messages, options));
    return database_.write_for<Appended>([&](Connection& connection, bool is_unsure) {
      return postgres::replace_messages(connection, {database_.tenant(), id}, {batch, from},
                                        is_unsure);
    });
  }

  Result<std::int64_t> count_replaced(const SessionId& id) override {
    return database_.read_for<std::int64_t>([&](Connection& connection) {
      return postgres::count_replaced(connection, {database_.tenant(), id});
    });
  }

 private:
  Database& database_;
};

class PostgresForking final : public Forking {
 public:
  explicit PostgresForking(Database& database) : database_(database) {}

  Result<> fork(const SessionId& parent, Seq at, const Session& child) override {
    REPRISE_TRY(store::check_new_session(child));
    const std::string name = postgres::operation_name();
    return database_.write([&](Connection& connection, bool is_unsure) -> Result<> {
      REPRISE_ASSIGN(const postgres::Creation creation,
                     make_fork(connection, {database_.tenant(), parent}, {child, at, name}));
      return postgres::run_creation(connection, creation, is_unsure);
    });
  }

 private:
  struct Wanted {
    const Session& child;
    Seq at;
    const std::string& name;
  };
  // The parent is held, so that nobody purges it before the child shares its messages.
  static Result<postgres::Creation> make_fork(Connection& connection, const Key& parent,
                                              const Wanted& wanted) {
    const auto& [child, at, name] = wanted;
    REPRISE_ASSIGN(const postgres::Locked locked, postgres::lock_session(connection, parent));
    if (at.value < 0 || at > locked.head) {
      return fail(Code::invalid_argument,
                  cat("cannot fork session ", parent.id.str(), " at ", at.value, ": it has ",
                      locked.head.value, " messages"));
    }
    REPRISE_ASSIGN(const auto base,
                   postgres::base_for(connection, parent.tenant, {parent.id, locked.branch}, at));
    Session forked = child;
    forked.info.forked_from = ForkOrigin{parent.id, at};
    const Key key{parent.tenant, child.info.id};
    REPRISE_ASSIGN(auto queries, postgres::creation(key, forked, at, name));
    if (base) {
      queries.push_back(postgres::insert_branch(key, 0, *base, at));
    }
    queries.push_back({postgres::kCommit});
    return postgres::Creation{key, std::move(queries), name};
  }

  Database& database_;
};

class PostgresStore final : public Store {
 public:
  explicit PostgresStore(std::unique_ptr<Database> database)
      : database_(std::move(database)),
        rewriting_(*database_),
        forking_(*database_),
        partials_(postgres::make_partials(*database_)),
        todos_(postgres::make_todos(*database_)),
        artefacts_(postgres::make_artefacts(*database_)),
        blobs_(postgres::make_blobs(*database_)),
        trash_(postgres::make_trash(*database_)),
        verifying_(postgres::make_verifying(*database_)) {
    offers_ = {.rewriting = &rewriting_,
               .forking = &forking_,
               .partials = partials_.get(),
               .todos = todos_.get(),
               .artefacts = artefacts_.get(),
               .blobs = blobs_.get(),
               .trash = trash_.get(),
               .verifying = verifying_.get()};
  }

  Result<> create(const Session& session) override {
    REPRISE_TRY(store::check_new_session(session));
    const std::string name = postgres::operation_name();
    REPRISE_ASSIGN(auto queries, postgres::creation(key(session.info.id), session, Seq{0}, name));
    queries.insert(queries.begin(), {postgres::kBegin});
    queries.push_back({postgres::kCommit});
    const postgres::Creation creation{key(session.info.id), std::move(queries), name};
    return database_->write([&](Connection& connection, bool is_unsure) {
      return postgres::run_creation(connection, creation, is_unsure);
    });
  }

  Result<std::optional<Session>> find(const SessionId& id) override {
    return database_->read_for<std::optional<Session>>(
        [&](Connection& connection) { return postgres::find_session(connection, key(id)); });
  }

  Result<> update(const SessionId& id, const SessionPatch& patch) override {
    return database_->write([&](Connection& connection, bool) {
      return postgres::update_session(connection, key(id), patch);
    });
  }

  Result<SessionPage> list(const SessionQuery& query) override {
    return postgres::list_sessions(*database_, query);
  }

  Result<Appended> append(const SessionId& id, std::vector<Message> messages,
                          AppendOptions options) override {
    REPRISE_ASSIGN(const postgres::Batch batch, postgres::make_batch(messages, options));
    return database_->write_for<Appended>([&](Connection& connection, bool is_unsure) {
      return postgres::append_messages(connection, key(id), batch, is_unsure);
    });
  }

  Result<ReadReport> read(const SessionId& id, ReadRange range, const MessageSink& sink) override {
    return postgres::read_messages(*database_, id, range, sink);
  }

  StoreHolds holds() const override { return {}; }
  const StoreOffers& offers() const override { return offers_; }

 private:
  Key key(const SessionId& id) const { return {database_->tenant(), id}; }

  std::unique_ptr<Database> database_;
  PostgresRewriting rewriting_;
  PostgresForking forking_;
  std::unique_ptr<Partials> partials_;
  std::unique_ptr<Todos> todos_;
  std::unique_ptr<Artefacts> artefacts_;
  std::unique_ptr<Blobs> blobs_;
  std::unique_ptr<Trash> trash_;
  std::unique_ptr<Verifying> verifying_;
  StoreOffers offers_;
};

}  // namespace

Result<std::unique_ptr<Store>> open_postgres_store(std::string_view url,
                                                   const StoreOptions& options) {
  REPRISE_ASSIGN(auto database, Database::open(url, options));
  return store::in_own_process(std::make_unique<PostgresStore>(std::move(database)));
}

}  // namespace reprise
