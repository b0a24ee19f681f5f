#pragma once

// A bar on the terminal for work that takes longer than a second.

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "cli/output/output.h"

namespace reprise::cli {

// "verifying  [#######-------------]  35%  1200 of 3400", cut to the columns; without a total only
// what is done.
std::string progress_line(std::string_view work, std::int64_t done, std::int64_t total,
                          int columns);

// Nothing is shown before a second has passed, and where no terminal is.
class ProgressBar {
 public:
  using Now = std::function<std::chrono::steady_clock::time_point()>;
  // `err` outlives it.
  explicit ProgressBar(Output& err, Now now = std::chrono::steady_clock::now)
      : err_(err), now_(std::move(now)) {}
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar() { clear(); }

  // Other work begins a second of its own.
  void show(std::string_view work, std::int64_t done, std::int64_t total);
  // Takes it off the terminal; it comes again with the next show().
  void clear();

 private:
  Output& err_;
  Now now_;
  std::string work_;
  std::chrono::steady_clock::time_point started_at_;
  std::chrono::steady_clock::time_point drawn_;
  bool is_drawn_ = false;
};

}  // namespace reprise::cli
