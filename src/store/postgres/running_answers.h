#pragma once

// The writes of running answers. Small writes of many threads are combined into few transactions:
// those that arrive during a transaction, and within a pause after its start, are combined in the
// next one. A single writer does not wait. A writer that keeps others waiting for its locks is set
// apart for a while.
//
// A server that restarts after a crash may have lost the last unsynced pieces of an answer; their
// writer stores them again before anything after them can be read.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "store/postgres/connection.h"
#include "store/postgres/values.h"

namespace reprise::postgres {

struct Key;

struct Piece {
  std::int64_t n = 0;  // its position in the answer, from 1
  std::string name;
  std::vector<std::string> bodies = {};  // its parts
};

// Thread-safe.
class RunningAnswers {
 public:
  // The position of the last piece stored by this process; 0 if there is none.
  std::int64_t last(const Key& key, std::string_view answer);
  void add(const Key& key, std::string_view answer, Piece piece);
  // The pieces strictly between these positions that are still in memory.
  std::vector<Piece> between(const Key& key, std::string_view answer, std::int64_t after,
                             std::int64_t before);
  // The stored start of the answer; nullopt if it was not read yet.
  std::optional<std::string> start(const Key& key, std::string_view answer);
  void set_start(const Key& key, std::string_view answer, std::string start);
  void forget(const Key& key, std::string_view answer);

 private:
  using Clock = std::chrono::steady_clock;
  struct Stored {
    Piece piece;
    Clock::time_point at;
  };
  struct Answer {
    std::int64_t last = 0;
    std::size_t bytes = 0;  // of the pieces
    std::deque<Stored> pieces = {};
    std::optional<std::string> start = {};
    Clock::time_point used = {};
  };
  Answer& answer_of(const Key& key, std::string_view answer);

  std::mutex mutex_;
  std::map<std::string, Answer, std::less<>> answers_;  // guarded by mutex_
};

// Thread-safe.
class GroupCommit {
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
