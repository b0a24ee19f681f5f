#pragma once

// Small writes of many threads in few transactions: what comes while one runs, and within a pause
// after its beginning, goes together in the next one. A thread that writes alone waits for nobody.

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
  // All queries of a transaction; one of their callers runs it for all. Without an error it may
  // return nothing at all.
  using Run = std::function<Result<std::vector<Rows>>(const std::vector<Query>& queries)>;

  struct Outcome {
    std::vector<Rows> rows = {};  // of these queries
    std::optional<Error> error = {};
    // The transaction failed that others had a part in, which may be their fault: do it alone.
    bool is_undone = false;
  };
  // `order` decides which of two locks is taken first, by the same rule in every process.
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

  std::mutex mutex_;  // guards all below
  std::deque<Job*> waiting_;
  bool is_running_ = false;
  std::chrono::steady_clock::time_point started_at_ = {};
};

}  // namespace reprise::postgres
