#pragma once

// Processes that write to one session, and their acknowledgements.

#include <sys/types.h>

#include <map>
#include <vector>

#include "base/file.h"
#include "life.h"

namespace reprise::rel {

// The number of acknowledged messages of each writer of each round.
using Acknowledged = std::map<std::pair<int, int>, int>;

// A process that the destructor kills, if it is running, and waits for.
class Process {
 public:
  explicit Process(const std::function<int()>& work);
  ~Process();
  Process(Process&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  Process& operator=(Process&&) = delete;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void signal(int number) const;
  // Its exit code, or 128 plus the signal that ended it.
  int wait();

 private:
  pid_t pid_;
};

// Creates a store with the session for all writers.
void begin_named(const Kind& kind, const std::filesystem::path& location);

std::string name_of(int round, int writer, int number);

struct Writing {
  int round = 0;
  int writer = 0;
  int messages = 1'000'000;
  std::size_t bytes = 200;
  int acknowledged = -1;  // a file to which the count is written after each message
};
// Returns 0, or an exit code for the failure.
int write_as(const Kind& kind, const std::filesystem::path& location, const Writing& writing);

// Four processes that write continuously.
class Writers {
 public:
  Writers(const Kind& kind, const std::filesystem::path& location, int round);
  // The acknowledgements so far.
  const Acknowledged& known();
  // Kills all of them. Returns the acknowledgements until then.
  const Acknowledged& kill();

 private:
  int round_;
  Fd acknowledged_;
  Acknowledged known_;
  std::vector<Process> writers_;
};

// "" if the messages of each writer are complete from its first one, in order, at least as many as
// acknowledged, and without duplicates.
std::string check_named(const std::vector<std::string>& names, const Acknowledged& known);

// The same for the store at `location`, and that it accepts another message. `next` is an unused
// round for its name.
std::string examine_named(const Kind& kind, const std::filesystem::path& location, int next,
                          const Acknowledged& known);

}  // namespace reprise::rel
