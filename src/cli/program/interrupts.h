#pragma once

// SIGINT, SIGTERM and SIGHUP as a stop token, for commands that have something to save first.

#include <memory>
#include <stop_token>

namespace reprise::cli {

// At most one at a time in a process. The signals have their default effect again when it is gone.
class Interrupts {
 public:
  // The first `patience` signals ask to stop, the next one ends the process at once.
  explicit Interrupts(int patience = 1);
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  std::stop_token token() const;
  // The signal that came; 0 for none. Of several, the one that asks for more than SIGINT.
  int signal() const;
  // How many came.
  int count() const;
  // Forgets the signal and begins a new token: a loop goes on after a stopped answer.
  void reset();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace reprise::cli
