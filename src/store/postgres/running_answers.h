#pragma once

// The recent pieces of this process's running answers. A server that restarts after a crash may
// have lost the last unsynced ones; their writer stores them again before anything after them can
// be read.

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

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

}  // namespace reprise::postgres
