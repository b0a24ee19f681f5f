#pragma once

// The connections of one process to one database, shared by its threads and tenants.
//
//  (1) At most connections_max threads use connections at a time; others wait in order of arrival.
//      A thread that has one gets a second one at once, or it would wait for itself.
//  (2) Returned connections are reused. Those that were idle for a minute are closed when another
//      one is returned.

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "reprise/open_store.h"
#include "store/postgres/connection.h"
#include "store/postgres/url.h"

namespace reprise::postgres {

enum class From : std::uint8_t {
  primary,
  list,  // may be slightly out of date if the URL allows it
};

// Thread-safe.
class Pool {
 public:
  using OwnedConnection = std::unique_ptr<Connection>;

  Pool(ConnectionTarget target, const StoreOptions& options);

  // The right of a thread to use connections, returned by the destructor in the same thread.
  class Permit {
   public:
    explicit Permit(Pool& pool) : pool_(&pool) {}
    Permit(Permit&& other) noexcept : pool_(std::exchange(other.pool_, nullptr)) {}
    Permit& operator=(Permit&&) = delete;
    Permit(const Permit&) = delete;
    Permit& operator=(const Permit&) = delete;
    ~Permit() {
      if (pool_ != nullptr) {
        pool_->leave();
      }
    }

   private:
    Pool* pool_;
  };
  // If no permit becomes free before the deadline: why the server does not work, or busy.
  Result<Permit> enter(Deadline deadline);
  // nullopt: the server works.
  void set_outage(std::optional<Error> reason);

  // An idle or new connection, for the number of threads with a permit.
  Result<OwnedConnection> acquire(From from, Deadline deadline);
  // A new connection, even without a permit.
  Result<OwnedConnection> connect(From from, Deadline deadline);
  // Returns a connection to the pool, or closes it if it is unusable.
  void release(From from, OwnedConnection connection);
  void forget_idle();
  // Sets how statements are prepared from now on: with a pooler, another server connection may not
  // have the named statements.
  void set_prepare(Prepare prepare);

  const ConnectionTarget& target() const { return target_; }
  const StoreOptions& options() const { return options_; }

 private:
  struct Idle {
    OwnedConnection connection;
    std::chrono::steady_clock::time_point since;
  };
  struct Waiter {
    std::condition_variable admitted;
    bool is_admitted = false;
  };
  void leave();
  std::size_t index_of(From from) const;  // lists have separate connections only for a standby
  bool is_inside(std::thread::id thread) const;
  Result<OwnedConnection> connect_as(std::string_view session, Deadline deadline);
  Result<OwnedConnection> connect_to(const Parameters& server, Deadline deadline);
  Result<OwnedConnection> connect_with_password(Parameters server, Deadline deadline);
  Result<std::string> password();

  const ConnectionTarget target_;
  const StoreOptions options_;
  const std::size_t connections_max_;
  // The settings that the server accepts when connecting.
  enum class Limits : std::uint8_t { all, of_locks, none };
  std::atomic<Limits> limits_ = Limits::all;
  std::mutex mutex_;                     // guards the members below
  std::size_t admitted_ = 0;             // the number of threads with a permit
  std::vector<std::thread::id> inside_;  // the threads with permits, one entry per permit
  std::deque<Waiter*> waiting_;
  std::optional<Error> outage_;
  std::vector<Idle> idle_[2];  // by index_of(), most recently returned last
  Prepare prepare_ = Prepare::named;
  std::mutex password_mutex_;            // held while the password is asked for
  std::optional<std::string> password_;  // guarded by it
};

}  // namespace reprise::postgres
