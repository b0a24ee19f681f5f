#pragma once

// What this process has written of its running answers lately. A server that comes back after a
// crash may have lost the last moments of what it did not sync; whoever wrote them writes them
// again before anything that follows them can be read.

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "store/postgres/sessions.h"
#include "store/postgres/values.h"

namespace reprise::postgres {

struct Piece {
  std::int64_t n = 0;  // its place in the answer, from 1
  std::string name;
  std::vector<std::string> bodies = {};  // its parts
};

// Thread-safe.
class RunningAnswers {
 public:
  // The place of the last piece that this process has stored; 0 when it knows of none.
  std::int64_t last(const Key& key, std::string_view answer);
  void add(const Key& key, std::string_view answer, Piece piece);
  // The pieces between these places, both left out, that are still in memory.
  std::vector<Piece> between(const Key& key, std::string_view answer, std::int64_t after,
                             std::int64_t before);
  // How the answer began, as it is stored; nullopt when it was not read yet.
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
