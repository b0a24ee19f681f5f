#pragma once

// Shows that an answer is awaited.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "cli/process/output.h"

namespace reprise::cli {

// "⠋ answering 12 s · ~340 tokens"; without a count if there are no tokens.
std::string spinner_text(std::chrono::nanoseconds passed, std::int64_t tokens);

// Draws the text in the terminal's last line from its own thread. Does nothing if `err` is no
// terminal. Must be hidden before anything else is written to the terminal.
class Spinner {
 public:
  // `err` must outlive it.
  Spinner(Output& err, bool is_enabled);
  ~Spinner();
  Spinner(const Spinner&) = delete;
  Spinner& operator=(const Spinner&) = delete;

  void show();
  // Restores the line; nothing is written after it returns.
  void hide();
  // Counts received bytes of the answer. Thread-safe.
  void add(std::size_t bytes);

 private:
  void draw(const std::stop_token& over);

  Output& err_;
  bool is_enabled_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::size_t bytes_ = 0;
  std::optional<std::chrono::steady_clock::time_point> began_;
  std::jthread drawer_;  // last: uses the members above
};

}  // namespace reprise::cli
