#include "store/postgres/database.h"

#include <algorithm>
#include <mutex>
#include <thread>

#include "base/text.h"
#include "reprise/open_store.h"
#include "store/postgres/connection.h"
#include "store/postgres/schema.h"
#include "store/postgres/server_error.h"
#include "store/postgres/statements.h"
#include "store/postgres/url.h"

namespace reprise::postgres {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kIdleMax = 8;
constexpr milliseconds kMigrationTime{60'000};
// A server that says nothing may be gone, so that each attempt gets only a part of the time.
constexpr milliseconds kAttemptMin{1'000};

// A client that has been stopped in the middle of a transaction loses it after this.
constexpr milliseconds kStoppedMax{60'000};

Deadline attempt_deadline(Deadline deadline) {
  const auto now = Clock::now();
  return std::min(deadline, now + std::max<Clock::duration>((deadline - now) / 2, kAttemptMin));
}

// Longer each time, and different for each client: those that met once do not meet again.
void pause(int attempt, Deadline deadline) {
  constexpr int kShortest = 2;  // milliseconds
  constexpr int kDoublingsMax = 7;
  std::uint8_t random[2];
  system_entropy().fill(random);
  const int longest = kShortest << std::min(attempt, kDoublingsMax);
  const milliseconds wait{1 + (random[0] * 256 + random[1]) % longest};
  std::this_thread::sleep_for(std::min<Clock::duration>(wait, deadline - Clock::now()));
}

Remedy remedy_of(const Failure& failure, const Error& error) {
  if (error.code == Code::unauthorized || error.code == Code::unsupported) {
    return Remedy::none;
  }
  if (failure.is_lost || failure.may_be_stored) {
    return Remedy::reconnect;
  }
  return remedy_for(failure.sqlstate);
}

}  // namespace

Database::Database(Place place, const StoreOptions& options)
    : place_(std::move(place)),
      options_(options),
      client_(make_operation_id(system_clock(), system_entropy()).str()) {}

Result<std::unique_ptr<Database>> Database::open(std::string_view url,
                                                 const StoreOptions& options) {
  REPRISE_ASSIGN(Place place, parse_url(url));
  std::unique_ptr<Database> database(new Database(std::move(place), options));
  if (auto prepared = database->prepare(); !prepared) {
    return fail_with_context(database->name(), std::move(prepared).error());
  }
  return database;
}

// One attempt: whoever opens a store wants to know at once that its server is away.
Result<> Database::prepare() {
  REPRISE_ASSIGN(Lease connection, connect(From::primary, deadline()));
  REPRISE_TRY(prepare_tables(*connection, Clock::now() + kMigrationTime));
  give_back(From::primary, std::move(connection));
  return {};
}

Result<> Database::prepare_tables(Connection& connection, Deadline deadline) {
  auto version = find_version(connection);
  if (!version && remedy_for(connection.failure().sqlstate) == Remedy::unnamed) {
    prepare_ = Prepare::unnamed;
    connection.set_prepare(prepare_);
    version = find_version(connection);
  }
  REPRISE_ASSIGN(tables_, std::move(version));
  REPRISE_TRY(check_version(tables_.version));
  if (options_.access == Access::read) {
    return tables_.version > 0 ? Result<>()
                               : fail(Code::not_found, "there is no store in this database");
  }
  if (tables_.version < kVersion || !tables_.has_additions()) {
    connection.set_deadline(deadline);
    REPRISE_ASSIGN(tables_, make_current(connection));
  }
  return {};
}

Result<> Database::write(const Work& work) {
  if (options_.access == Access::read) {
    return fail(Code::unsupported, cat(name(), " is open for reading only"));
  }
  return attempt(From::primary, work);
}

Result<> Database::read(const Look& look, From from) {
  return attempt(from, [&look](Connection& connection, bool) { return look(connection); });
}

Result<> Database::attempt(From from, const Work& work) {
  const Deadline deadline = this->deadline();
  // Who waited in vain does not wait again: a turn goes on unsaved, and is not held up each time.
  const bool was_away = is_away_;
  bool is_unsure = false;
  std::optional<Error> reason;  // the last that says more than that the time is over
  for (int attempt = 0;; ++attempt) {
    Failure failure;
    Result<> done;
    const Deadline until = attempt_deadline(deadline);
    if (auto leased = lease(from, until); leased) {
      Lease connection = *std::move(leased);
      connection->set_deadline(until);
      done = work(*connection, is_unsure);
      failure = connection->failure();
      give_back(from, std::move(connection));
    } else {
      done = std::unexpected(std::move(leased).error());
      failure = {.is_lost = true};
    }
    if (done) {
      is_away_ = false;
      return done;
    }
    is_unsure = is_unsure || failure.may_be_stored;
    if (!reason || done.error().code != Code::timeout) {
      reason = done.error();
    }
    if (failure.sqlstate.empty() && !failure.is_lost) {
      return done;  // the server has nothing to do with it
    }
    const bool is_over = Clock::now() >= deadline || (was_away && failure.is_lost);
    if (!take_remedy(remedy_of(failure, done.error())) || is_over) {
      is_away_ = failure.is_lost;
      return fail_with_context(name(), *std::move(reason));
    }
    pause(attempt, deadline);
  }
}

// Whether another attempt makes sense now.
bool Database::take_remedy(Remedy remedy) {
  if (remedy == Remedy::reconnect) {
    forget_idle();
  }
  const std::lock_guard lock(mutex_);
  if (remedy == Remedy::unnamed) {
    prepare_ = Prepare::unnamed;
  }
  return remedy != Remedy::none;
}

Result<Database::Lease> Database::lease(From from, Deadline deadline) {
  {
    const std::lock_guard lock(mutex_);
    auto& idle = idle_[static_cast<std::size_t>(from)];
    if (!idle.empty()) {
      Lease connection = std::move(idle.back());
      idle.pop_back();
      connection->set_prepare(prepare_);
      return connection;
    }
  }
  return connect(from, deadline);
}

Result<Database::Lease> Database::connect(From from, Deadline deadline) {
  if (from == From::list && place_.list_from_standby && place_.many_servers()) {
    if (auto standby = connect_as("standby", deadline); standby) {
      return standby;
    }
  }
  const bool must_write =
      place_.many_servers() && !place_.says_which_server && options_.access == Access::write;
  return connect_as(must_write ? "read-write" : "", deadline);
}

// `session`: what libpq asks of a server (target_session_attrs); "" leaves it to the URL.
Result<Database::Lease> Database::connect_as(std::string_view session, Deadline deadline) {
  Result<Lease> connected = fail(Code::io, "no server");
  std::size_t left = place_.servers.size();
  for (Parameters server : place_.servers) {
    if (!session.empty()) {
      server.emplace_back("target_session_attrs", session);
    }
    const Clock::duration share = (deadline - Clock::now()) / static_cast<std::int64_t>(left--);
    connected = connect_to(std::move(server), Clock::now() + share);
    if (connected) {
      const std::lock_guard lock(mutex_);
      (*connected)->set_deadline(deadline);
      (*connected)->set_prepare(prepare_);
      return connected;
    }
  }
  return connected;
}

// Nobody waits longer for a lock than for the whole, nor holds one for ever while it is stopped. A
// pooler may know no such settings.
Result<Database::Lease> Database::connect_to(Parameters server, Deadline deadline) {
  if (!is_plain_) {
    Parameters with_limits = server;
    const auto lock_ms = std::chrono::ceil<milliseconds>(options_.busy_timeout * 2 / 5).count();
    append_option(with_limits, cat("-c lock_timeout=", std::max<milliseconds::rep>(lock_ms, 1)));
    append_option(with_limits, cat("-c idle_in_transaction_session_timeout=", kStoppedMax.count()));
    auto connected = connect_with_password(std::move(with_limits), deadline);
    if (connected || connected.error().message.find("unsupported startup") == std::string::npos) {
      return connected;
    }
    is_plain_ = true;
  }
  return connect_with_password(std::move(server), deadline);
}

Result<Database::Lease> Database::connect_with_password(Parameters server, Deadline deadline) {
  const bool is_asked = options_.password && !place_.has_password;
  if ((is_asked || place_.has_password) && !options_.insecure) {
    REPRISE_TRY(require_tls(server));
  }
  if (!is_asked) {
    return Connection::open(server, deadline);
  }
  const std::size_t parameters = server.size();
  for (const bool is_last : {false, true}) {
    REPRISE_ASSIGN(std::string secret, password());
    server.resize(parameters);
    server.emplace_back("password", std::move(secret));
    auto connected = Connection::open(server, deadline);
    if (connected || connected.error().code != Code::unauthorized || is_last) {
      return connected;
    }
    const std::lock_guard lock(mutex_);
    password_.reset();
  }
  return fail(Code::unauthorized, "no password");
}

Result<std::string> Database::password() {
  const std::lock_guard lock(mutex_);
  if (!password_) {
    REPRISE_ASSIGN(password_, options_.password());
  }
  return *password_;
}

void Database::give_back(From from, Lease connection) {
  if (!connection->is_usable()) {
    return;
  }
  // What has begun is undone.
  if (!connection->is_idle() && (!connection->run_one({kRollback}) || !connection->is_idle())) {
    return;
  }
  const std::lock_guard lock(mutex_);
  auto& idle = idle_[static_cast<std::size_t>(from)];
  if (idle.size() < kIdleMax) {
    idle.push_back(std::move(connection));
  }
}

void Database::forget_idle() {
  const std::lock_guard lock(mutex_);
  for (auto& idle : idle_) {
    idle.clear();
  }
}

}  // namespace reprise::postgres
