#pragma once

// One database as the parts of the store see it: connections, and work that is done although
// servers go away, swap their roles or refuse two writers at once.
//  (1) Work runs again, as a whole, on another connection if need be, until it succeeds, fails for
//      good or the time is over.
//  (2) When an earlier attempt may have been stored (its commit was not answered), the work is told
//      so: it looks up what it did by its name before it does it again.

#include <atomic>
#include <mutex>

#include "reprise/open_store.h"
#include "store/postgres/connection.h"
#include "store/postgres/schema.h"
#include "store/postgres/server_error.h"
#include "store/postgres/url.h"

namespace reprise::postgres {

// `is_unsure`: an earlier attempt may have been stored.
using Work = std::function<Result<>(Connection& connection, bool is_unsure)>;

enum class From : std::uint8_t {
  primary,
  list,  // may be a moment behind, when the URL allows it
};

// Thread-safe.
class Database {
 public:
  static Result<std::unique_ptr<Database>> open(std::string_view url, const StoreOptions& options);

  // unsupported when the store was opened for reading.
  Result<> write(const Work& work);
  template <class Value, class Make>
  Result<Value> write_for(Make make) {
    Result<Value> made = fail(Code::io, "the work did not run");
    REPRISE_TRY(write([&](Connection& connection, bool is_unsure) -> Result<> {
      made = make(connection, is_unsure);
      return made ? Result<>() : std::unexpected(made.error());
    }));
    return made;
  }
  using Look = std::function<Result<>(Connection& connection)>;
  Result<> read(const Look& look, From from = From::primary);
  template <class Value, class Make>
  Result<Value> read_for(Make make, From from = From::primary) {
    Result<Value> made = fail(Code::io, "the work did not run");
    const auto look = [&](Connection& connection) -> Result<> {
      made = make(connection);
      return made ? Result<>() : std::unexpected(made.error());
    };
    REPRISE_TRY(read(look, from));
    return made;
  }

  // For what begins now.
  Deadline deadline() const { return std::chrono::steady_clock::now() + options_.busy_timeout; }
  const std::string& tenant() const { return place_.tenant; }
  const std::string& name() const { return place_.name; }
  // Of the tables when they were opened; older ones are read as they are.
  std::int64_t version() const { return tables_.version; }
  bool has_additions() const { return tables_.has_additions(); }
  // A name of this object that no other one has.
  const std::string& client() const { return client_; }
  Clock& clock() const { return *options_.clock; }

 private:
  using Lease = std::unique_ptr<Connection>;
  Database(Place place, const StoreOptions& options);
  Result<> prepare();
  Result<> attempt(From from, const Work& work);
  bool take_remedy(Remedy remedy);
  Result<> prepare_tables(Connection& connection, Deadline deadline);
  Result<Lease> lease(From from, Deadline deadline);
  Result<Lease> connect(From from, Deadline deadline);
  Result<Lease> connect_as(std::string_view session, Deadline deadline);
  Result<Lease> connect_to(Parameters server, Deadline deadline);
  Result<Lease> connect_with_password(Parameters server, Deadline deadline);
  Result<std::string> password();
  void give_back(From from, Lease connection);
  void forget_idle();

  const Place place_;
  const StoreOptions options_;
  const std::string client_;
  TablesVersion tables_;                // set before anyone else has this
  std::atomic<bool> is_away_ = false;   // the last wait for a server was in vain
  std::atomic<bool> is_plain_ = false;  // the server takes no settings when connecting
  std::mutex mutex_;
  std::vector<Lease> idle_[2];           // guarded by mutex_: by From
  std::optional<std::string> password_;  // guarded by mutex_
  Prepare prepare_ = Prepare::named;     // guarded by mutex_
};

}  // namespace reprise::postgres
