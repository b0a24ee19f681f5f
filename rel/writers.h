#pragma once

// Processes that write to one session, and what they were told.

#include <sys/types.h>

#include <map>
#include <vector>

#include "base/file.h"
#include "life.h"

namespace reprise::rel {

// How many of its messages each writer of each round was told are stored.
using Acknowledged = std::map<std::pair<int, int>, int>;

// A process that is killed, if it still runs, and waited for.
class Process {
 public:
  explicit Process(const std::function<int()>& work);
  ~Process();
  Process(Process&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  Process& operator=(Process&&) = delete;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void signal(int number) const;
  // Its exit code, or 128 and the signal that ended it.
  int wait();

 private:
  pid_t pid_;
};

// A new store with the one session that all of them write to.
void begin_named(const Kind& kind, const std::filesystem::path& place);

std::string name_of(int round, int writer, int number);

struct Writing {
  int round = 0;
  int writer = 0;
  int messages = 1'000'000;
  std::size_t bytes = 200;
  int acknowledged = -1;  // a file that is told, after each message, how many it has been
};
// Returns 0, or what went wrong as an exit code.
int write_as(const Kind& kind, const std::filesystem::path& place, const Writing& writing);

// Four processes that write on and on.
class Writers {
 public:
  Writers(const Kind& kind, const std::filesystem::path& place, int round);
  // What they have been told until now.
  const Acknowledged& known();
  // Kills them all. What they were told until then.
  const Acknowledged& kill();

 private:
  int round_;
  Fd acknowledged_;
  Acknowledged known_;
  std::vector<Process> writers_;
};

// "" when each writer's messages are there from its first to its last, in order, at least as many
// as it was told, and nothing twice.
std::string check_named(const std::vector<std::string>& names, const Acknowledged& known);

// The same of the store at `place`, and one more can be added to it. `next` is a round that has not
// begun: under its name it is added.
std::string examine_named(const Kind& kind, const std::filesystem::path& place, int next,
                          const Acknowledged& known);

}  // namespace reprise::rel
