#pragma once

// The process that an object was created in. A forked child has copies of all objects of its
// parent, but none of its threads, and shares its open files, locks and connections: it must not
// use them.

#include <sys/types.h>

#include <cstdint>

namespace reprise {

class OwnProcess {
 public:
  OwnProcess();
  // False in a forked child, even if its PID namespace gives it the pid of its parent. Lock-free.
  bool is_here() const;

 private:
  pid_t pid_;
  std::uint64_t forks_;  // fork count when the object was created
};

}  // namespace reprise
