#pragma once

// The connections of one process to one database, for all its threads and tenants.
//  (1) At most connections_max threads use one at a time; the others wait in the order in which
//      they came. A thread that has one gets a second one at once: it would wait for itself.
//  (2) What is given back is lent again. What has been idle for a minute is closed when the next
//      one is given back.

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
  list,  // may be a moment behind, when the URL allows it
};

// Thread-safe.
class Pool {
 public:
  using Lease = std::unique_ptr<Connection>;

  Pool(Place place, const StoreOptions& options);

  // The right of a thread to use connections, given back by the destructor in the same thread.
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
  // busy when the others have not made room by the deadline.
  Result<Permit> enter(Deadline deadline);

  // For threads with a permit: an idle one, or a new one.
  Result<Lease> lease(From from, Deadline deadline);
  // A new one, also without a permit.
  Result<Lease> connect(From from, Deadline deadline);
  // Unless it cannot be used any more.
  void give_back(From from, Lease connection);
  void forget_idle();
  // Statements have no names from now on: a pooler hands them to servers that know none.
  void set_prepare(Prepare prepare);

  const Place& place() const { return place_; }
  const StoreOptions& options() const { return options_; }

 private:
  struct Idle {
    Lease connection;
    std::chrono::steady_clock::time_point since;
  };
  struct Waiter {
    std::condition_variable admitted;
    bool is_admitted = false;
  };
  void leave();
  std::size_t index_of(From from) const;  // lists have connections of their own at a standby only
  bool is_inside(std::thread::id thread) const;
  Result<Lease> connect_as(std::string_view session, Deadline deadline);
  Result<Lease> connect_to(Parameters server, Deadline deadline);
  Result<Lease> connect_with_password(Parameters server, Deadline deadline);
  Result<std::string> password();

  const Place place_;
  const StoreOptions options_;
  const std::size_t connections_max_;
  // What the server takes when connecting.
  enum class Limits : std::uint8_t { all, of_locks, none };
  std::atomic<Limits> limits_ = Limits::all;
  std::mutex mutex_;                     // guards all below
  std::size_t admitted_ = 0;             // threads with a permit
  std::vector<std::thread::id> inside_;  // whose permits there are, each as often as it has one
  std::deque<Waiter*> waiting_;
  std::vector<Idle> idle_[2];  // by index_of(), those given back last at the end
  std::optional<std::string> password_;
  Prepare prepare_ = Prepare::named;
};

}  // namespace reprise::postgres
