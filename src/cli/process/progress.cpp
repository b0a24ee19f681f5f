#include "cli/process/progress.h"

#include <algorithm>
#include <cstddef>

#include "base/text.h"

namespace reprise::cli {
namespace {

constexpr std::chrono::seconds kBarPatience{1};
constexpr std::chrono::milliseconds kBarPause{100};
constexpr std::int64_t kBarCells = 20;
constexpr std::int64_t kBarPercent = 100;

}  // namespace

std::string progress_line(std::string_view work, std::int64_t done, std::int64_t total,
                          int columns) {
  std::string line(work);
  if (total > 0) {
    const std::int64_t part = std::clamp<std::int64_t>(done, 0, total);
    const auto cells = static_cast<std::size_t>(kBarCells * part / total);
    const std::string percent = std::to_string(kBarPercent * part / total);
    line += cat("  [", std::string(cells, '#'),
                std::string(static_cast<std::size_t>(kBarCells) - cells, '-'), "] ",
                std::string(percent.size() < 3 ? 3 - percent.size() : 0, ' '), percent, "%  ", part,
                " of ", total);
  } else if (done > 0) {
    line += cat("  ", done);
  } else {
    line += " …";
    return columns > static_cast<int>(work.size()) + 2 ? line : std::string();
  }
  // The last column is unused: some terminals wrap there.
  return line.substr(0, static_cast<std::size_t>(std::max(columns - 1, 0)));
}

void ProgressBar::show(std::string_view work, std::int64_t done, std::int64_t total) {
  if (!err_.is_terminal()) {
    return;
  }
  const auto now = now_();
  if (work != work_) {
    clear();
    work_ = work;
    started_at_ = now;
  }
  if (now - started_at_ < kBarPatience || (is_drawn_ && now - drawn_ < kBarPause)) {
    return;
  }
  drawn_ = now;
  is_drawn_ = true;
  err_.write(cat("\r\x1b[K", progress_line(work, done, total, err_.columns())));
  // A failure of standard error cannot be reported.
  (void)err_.flush();
}

void ProgressBar::clear() {
  if (std::exchange(is_drawn_, false)) {
    err_.write("\r\x1b[K");
    (void)err_.flush();
  }
}

}  // namespace reprise::cli
