#pragma once

// A progress bar for work that takes longer than a second.

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "cli/process/output.h"

namespace reprise::cli {

// "verifying  [#######-------------]  35%  1200 of 3400", cut to `columns`; without a total, only
// the count.
std::string progress_line(std::string_view work, std::int64_t done, std::int64_t total,
                          int columns);

// Shows nothing during the first second, or if `err` is no terminal.
class ProgressBar {
 public:
  using Now = std::function<std::chrono::steady_clock::time_point()>;
  // `err` must outlive it.
  explicit ProgressBar(Output& err, Now now = std::chrono::steady_clock::now)
      : err_(err), now_(std::move(now)) {}
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar() { clear(); }

  // A different `work` restarts the delay of one second.
  void show(std::string_view work, std::int64_t done, std::int64_t total);
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

}  // namespace reprise::cli
