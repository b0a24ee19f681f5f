#pragma once

// Turns SIGINT, SIGTERM and SIGHUP into a stop token, for commands that must save before exiting.

#include <chrono>  // IWYU pragma: export
#include <memory>
#include <stop_token>

namespace reprise::cli {

// For programs with a prompt: two signals request a stop; the third one ends the process at once.
inline constexpr int kInterruptsMax = 2;
// Two presses of a key within this time are a double press, such as Ctrl-C twice to quit.
inline constexpr std::chrono::seconds kDoublePressWindow{2};

// At most one instance per process. The destructor restores the previous signal actions.
class Interrupts {
 public:
  // The first `signals_max` signals request a stop; the next one ends the process at once.
  explicit Interrupts(int signals_max = 1);
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  std::stop_token token() const;
  // The signal received; 0 for none. Of several, SIGTERM and SIGHUP take precedence over SIGINT.
  int signal() const;
  // How many signals were received.
  int count() const;
  // Clears the signal and starts with a new token, to continue after a stopped answer.
  void reset();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace reprise::cli
