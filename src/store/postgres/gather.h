#pragma once

// Combines small writes of many threads into few transactions: writes that arrive during a
// transaction, and within a pause after its start, are combined in the next one. A single writer
// does not wait. A writer that keeps others waiting for its locks is set apart for a while.

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "store/postgres/connection.h"
#include "store/postgres/values.h"

namespace reprise::postgres {

// Thread-safe.
class Gatherer {
 public:
  enum class Wait : std::uint8_t { brief, full };  // for locks
  // Runs all queries of a transaction, on the thread of one of the callers. On success, it may
  // return no rows. busy if a lock was not free in time.
  using Run =
      std::function<Result<std::vector<Rows>>(const std::vector<Query>& queries, Wait wait)>;

  // Returns the rows of these queries. If a shared transaction fails, each of its writers runs
  // alone. `order` names the locks, and determines the order of taking them, in the same way in
  // every process.
  Result<std::vector<Rows>> run(std::string_view order, std::vector<Query> queries,
                                const Run& run_all);

 private:
  struct Job {
    std::string order;
    std::vector<Query> queries;
    Result<std::vector<Rows>> rows = {};
    bool is_undone = false;  // possibly because of the queries of others
    bool is_done = false;
    std::condition_variable changed = {};
  };
  using Jobs = std::vector<Job*>;
  using Clock = std::chrono::steady_clock;
  bool is_excluded(std::string_view order);
  void exclude(std::string_view order);
  Jobs take_batch(std::unique_lock<std::mutex>& lock);
  static void run_batch(const Jobs& batch, const Run& run_all);

  std::mutex mutex_;  // guards the members below
  std::deque<Job*> waiting_;
  bool is_running_ = false;
  Clock::time_point started_at_ = {};
  std::map<std::string, Clock::time_point, std::less<>> excluded_until_;
};

}  // namespace reprise::postgres
