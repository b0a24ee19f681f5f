#pragma once

// What shows that an answer is waited for.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "cli/output/output.h"

namespace reprise::cli {

// "⠋ answering 12 s · ~340 tokens"; without tokens when there are none.
std::string spinner_text(std::chrono::nanoseconds passed, std::int64_t tokens);

// The same in the last line of a terminal, drawn by a thread of its own while it is shown. Does
// nothing where `err` is no terminal. Who writes to the terminal hides it first.
class Spinner {
 public:
  // `err` outlives it.
  Spinner(Output& err, bool is_enabled);
  ~Spinner();
  Spinner(const Spinner&) = delete;
  Spinner& operator=(const Spinner&) = delete;

  void show();
  // When this returns, the line is as it was before, and nothing more is written.
  void hide();
  // So many bytes of an answer have come. May be called from any thread.
  void add(std::size_t bytes);

 private:
  void draw(const std::stop_token& over);

  Output& err_;
  bool is_enabled_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::size_t bytes_ = 0;
  std::optional<std::chrono::steady_clock::time_point> began_;
  std::jthread drawer_;  // last: it uses the others
};

}  // namespace reprise::cli
