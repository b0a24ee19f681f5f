#pragma once

// Combines small writes of many threads into few transactions: writes that arrive during a
// transaction, and within a pause after its start, are combined in the next one. A single writer
// does not wait.

#include <condition_variable>
#include <deque>
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
  // Runs all queries of a transaction, on the thread of one of the callers. On success, it may
  // return no rows.
  using Run = std::function<Result<std::vector<Rows>>(const std::vector<Query>& queries)>;

  struct Outcome {
    std::vector<Rows> rows = {};  // the rows of these queries
    std::optional<Error> error = {};
    // The shared transaction failed, possibly because of the queries of others: retry alone.
    bool is_undone = false;
  };
  // `order` determines the order of taking locks, in the same way in every process.
  Outcome run(std::string_view order, std::vector<Query> queries, const Run& run_all);

 private:
  struct Job {
    std::string order;
    std::vector<Query> queries;
    Outcome outcome = {};
    bool is_done = false;
    std::condition_variable changed = {};
  };
  using Jobs = std::vector<Job*>;
  Jobs take_batch(std::unique_lock<std::mutex>& lock);
  static void run_batch(const Jobs& batch, const Run& run_all);

  std::mutex mutex_;  // guards the members below
  std::deque<Job*> waiting_;
  bool is_running_ = false;
  std::chrono::steady_clock::time_point started_at_ = {};
};

}  // namespace reprise::postgres
