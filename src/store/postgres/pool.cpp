#include "store/postgres/pool.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <thread>

#include "base/assert.h"
#include "base/text.h"
#include "reprise/open_store.h"
#include "reprise/store_statistics.h"
#include "store/call.h"
#include "store/postgres/connection.h"
#include "store/postgres/statements.h"
#include "store/postgres/url.h"

namespace reprise::postgres {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kIdleTime{60};
// The timeout after which a stopped client loses its transaction.
constexpr milliseconds kStoppedMax{60'000};
// The maximum time that a statement continues to run after its client is gone.
constexpr std::string_view kClientCheckSetting = "client_connection_check_interval";
constexpr milliseconds kClientGoneMax{1'000};

}  // namespace

Pool::Pool(ConnectionTarget target, const StoreOptions& options)
    : target_(std::move(target)),
      options_(options),
      connections_max_(static_cast<std::size_t>(options.connections_max)) {}

std::size_t Pool::index_of(From from) const {
  return from == From::list && target_.list_from_standby ? 1 : 0;
}

bool Pool::is_inside(std::thread::id thread) const {
  return std::ranges::find(inside_, thread) != inside_.end();
}

Result<Pool::Permit> Pool::enter(Deadline deadline) {
  const std::thread::id self = std::this_thread::get_id();
  std::unique_lock lock(mutex_);
  if (!is_inside(self)) {
    if (admitted_ < connections_max_) {
      ++admitted_;
    } else {
      Waiter waiter;
      waiting_.push_back(&waiter);
      store::timed(&StoreCounts::connection_waits, "connection wait", [&] {
        return waiter.admitted.wait_until(lock, deadline, [&waiter] { return waiter.is_admitted; });
      });
      if (!waiter.is_admitted) {
        std::erase(waiting_, &waiter);
        return std::unexpected(outage_.value_or(Error{
            Code::busy,
            cat("all connections of this process are in use: ", connections_max_, " at most")}));
      }
    }
  }
  inside_.push_back(self);
  return Permit(*this);
}

void Pool::set_outage(std::optional<Error> reason) {
  const std::lock_guard lock(mutex_);
  outage_ = std::move(reason);
}

// Passes the permit to the thread that has waited longest.
void Pool::leave() {
  const std::lock_guard lock(mutex_);
  const std::thread::id self = std::this_thread::get_id();
  const auto entry = std::ranges::find(inside_, self);
  REPRISE_ASSERT(entry != inside_.end());  // permits are not passed between threads
  inside_.erase(entry);
  if (is_inside(self)) {
    return;
  }
  if (waiting_.empty()) {
    --admitted_;
    return;
  }
  Waiter& next = *waiting_.front();
  waiting_.pop_front();
  next.is_admitted = true;
  next.admitted.notify_one();
}

Result<Pool::OwnedConnection> Pool::acquire(From from, Deadline deadline) {
  OwnedConnection unused;  // closed after the lock is released
  {
    const std::lock_guard lock(mutex_);
    auto& idle = idle_[index_of(from)];
    if (!idle.empty()) {
      OwnedConnection connection = std::move(idle.back().connection);
      idle.pop_back();
      connection->set_prepare(prepare_);
      return connection;
    }
    auto& others = idle_[1 - index_of(from)];
    if (!others.empty() && inside_.size() + others.size() > connections_max_) {
      unused = std::move(others.front().connection);
      others.erase(others.begin());
    }
  }
  return connect(from, deadline);
}

Result<Pool::OwnedConnection> Pool::connect(From from, Deadline deadline) {
  if (from == From::list && target_.list_from_standby && target_.many_servers()) {
    if (auto standby = connect_as("standby", deadline); standby) {
      return standby;
    }
  }
  const bool must_write =
      target_.many_servers() && !target_.names_server && options_.access == Access::write;
  return connect_as(must_write ? "read-write" : "", deadline);
}

// `session` is libpq's target_session_attrs; "" leaves it to the URL.
Result<Pool::OwnedConnection> Pool::connect_as(std::string_view session, Deadline deadline) {
  Result<OwnedConnection> connected = fail(Code::io, "no server");
  std::size_t left = target_.servers.size();
  for (Parameters server : target_.servers) {
    if (!session.empty()) {
      server.emplace_back("target_session_attrs", session);
    }
    const Clock::duration share = (deadline - Clock::now()) / static_cast<std::int64_t>(left--);
    connected = connect_to(server, Clock::now() + share);
    if (connected) {
      const std::lock_guard lock(mutex_);
      (*connected)->set_deadline(deadline);
      (*connected)->set_prepare(prepare_);
      return connected;
    }
  }
  return connected;
}

// Sets timeouts so that waiting for a lock ends before the whole operation, a stopped client does
// not hold a lock forever, and cancelled statements and those of killed clients end. Older servers
// do not check for their clients, and poolers may reject such settings.
Result<Pool::OwnedConnection> Pool::connect_to(const Parameters& server, Deadline deadline) {
  const auto lock_ms = std::chrono::ceil<milliseconds>(options_.busy_timeout * 2 / 5).count();
  while (true) {
    const Limits limits = limits_;
    Parameters with_limits = server;
    if (limits != Limits::none) {
      append_option(with_limits, cat("-c lock_timeout=", std::max<milliseconds::rep>(lock_ms, 1)));
      append_option(with_limits,
                    cat("-c idle_in_transaction_session_timeout=", kStoppedMax.count()));
    }
    if (limits == Limits::all) {
      append_option(with_limits, cat("-c ", kClientCheckSetting, "=", kClientGoneMax.count()));
    }
    auto connected = connect_with_password(std::move(with_limits), deadline);
    const auto contains = [&connected](std::string_view words) {
      return !connected && connected.error().message.find(words) != std::string::npos;
    };
    if (limits != Limits::none && contains("unsupported startup")) {
      limits_ = Limits::none;
    } else if (limits == Limits::all && contains(kClientCheckSetting)) {
      limits_ = Limits::of_locks;
    } else {
      return connected;
    }
  }
}

Result<Pool::OwnedConnection> Pool::connect_with_password(Parameters server, Deadline deadline) {
  const bool asks_password = options_.password && !target_.has_password;
  if ((asks_password || target_.has_password) && !options_.insecure) {
    REPRISE_TRY(require_tls(server));
  }
  if (!asks_password) {
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
    const std::lock_guard lock(password_mutex_);
    password_.reset();
  }
  return fail(Code::unauthorized, "no password");
}

Result<std::string> Pool::password() {
  const std::lock_guard lock(password_mutex_);
  if (!password_) {
    REPRISE_ASSIGN(password_, options_.password());
  }
  return *password_;
}

void Pool::release(From from, OwnedConnection connection) {
  if (!connection->is_usable()) {
    return;
  }
  // Rolls back a transaction in progress.
  if (!connection->is_idle() && (!connection->run_one({kRollback}) || !connection->is_idle())) {
    return;
  }
  std::vector<Idle> old;  // closed after the lock is released
  const std::lock_guard lock(mutex_);
  auto& idle = idle_[index_of(from)];
  const auto now = Clock::now();
  const auto first_used = std::ranges::find_if(
      idle, [now](const Idle& candidate) { return now - candidate.since < kIdleTime; });
  old.assign(std::move_iterator(idle.begin()), std::move_iterator(first_used));
  idle.erase(idle.begin(), first_used);
  if (idle.size() < connections_max_) {
    idle.push_back({std::move(connection), now});
  }
}

void Pool::forget_idle() {
  std::vector<Idle> old[2];
  const std::lock_guard lock(mutex_);
  std::ranges::swap(old, idle_);
}

void Pool::set_prepare(Prepare prepare) {
  const std::lock_guard lock(mutex_);
  prepare_ = prepare;
}

}  // namespace reprise::postgres
