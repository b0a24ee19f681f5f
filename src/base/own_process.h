#pragma once

// The process that something was made in. A fork's child has copies of all objects of its parent,
// but none of its threads, and shares its open files, locks and connections: it must not use them.

#include <sys/types.h>

#include <cstdint>

namespace reprise {

class OwnProcess {
 public:
  OwnProcess();
  // False in a child, also in one whose pid namespace gives it the pid of its parent. No lock is
  // taken.
  bool is_here() const;

 private:
  pid_t pid_;
  std::uint64_t forks_;  // between the first process that counted them and this one
};

}  // namespace reprise
