#pragma once

// What a terminal shows while the user waits: a progress bar, and a spinner until an answer
// arrives.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "cli/process/process.h"

namespace reprise {
struct Progress;
}

namespace reprise::cli {

// "verifying  [#######-------------]  35%  1200 of 3400", cut to `columns`; without a total, only
// the count.
std::string progress_line(const Progress& progress, int columns);

// For work that takes longer than a second: shows nothing before, or if `err` is no terminal.
class ProgressBar {
 public:
  using Now = std::function<std::chrono::steady_clock::time_point()>;
  // `err` must outlive it.
  explicit ProgressBar(Output& err, Now now = std::chrono::steady_clock::now)
      : err_(err), now_(std::move(now)) {}
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar() { clear(); }

  // Different work restarts the delay of one second.
  void show(const Progress& progress);
  // Removes the bar from the terminal until the next show().
  void clear();

 private:
  Output& err_;
  Now now_;
  std::string work_;
  std::chrono::steady_clock::time_point started_at_;
  std::chrono::steady_clock::time_point drawn_;
  bool is_drawn_ = false;
};

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
