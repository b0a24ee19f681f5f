#include "cli/process/progress.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <utility>

#include "base/text.h"
#include "reprise/source.h"

namespace reprise::cli {
namespace {

constexpr std::chrono::seconds kBarPatience{1};
constexpr std::chrono::milliseconds kBarPause{100};
constexpr std::int64_t kBarCells = 20;
constexpr std::int64_t kBarPercent = 100;

constexpr std::chrono::milliseconds kSpinnerStep{125};
// Shorter waits need no spinner.
constexpr std::chrono::milliseconds kSpinnerDelay{400};
constexpr std::string_view kEraseLine = "\r\x1b[K";

}  // namespace

std::string progress_line(const Progress& progress, int columns) {
  const auto& [work, done, total] = progress;
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

void ProgressBar::show(const Progress& progress) {
  if (!err_.is_terminal()) {
    return;
  }
  const auto now = now_();
  if (progress.work != work_) {
    clear();
    work_ = progress.work;
    started_at_ = now;
  }
  if (now - started_at_ < kBarPatience || (is_drawn_ && now - drawn_ < kBarPause)) {
    return;
  }
  drawn_ = now;
  is_drawn_ = true;
  err_.write(cat(kEraseLine, progress_line(progress, err_.columns())));
  // A failure of standard error cannot be reported.
  (void)err_.flush();
}

void ProgressBar::clear() {
  if (std::exchange(is_drawn_, false)) {
    err_.write(kEraseLine);
    (void)err_.flush();
  }
}

std::string spinner_text(std::chrono::nanoseconds passed, std::int64_t tokens) {
  constexpr std::array<std::string_view, 10> kFrames = {"⠋", "⠙", "⠹", "⠸", "⠼",
                                                        "⠴", "⠦", "⠧", "⠇", "⠏"};
  const auto steps = static_cast<std::size_t>(std::max<std::int64_t>(0, passed / kSpinnerStep));
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(passed).count();
  return cat(kFrames[steps % kFrames.size()], " answering ", seconds, " s",
             tokens > 0 ? cat(" · ~", tokens, tokens == 1 ? " token" : " tokens") : "");
}

Spinner::Spinner(Output& err, bool is_enabled)
    : err_(err), is_enabled_(is_enabled && err.is_terminal()) {}

Spinner::~Spinner() {
  hide();
}

void Spinner::show() {
  if (!is_enabled_ || drawer_.joinable()) {
    return;
  }
  if (!began_) {
    began_ = std::chrono::steady_clock::now();
  }
  drawer_ = std::jthread([this](const std::stop_token& over) { draw(over); });
}

void Spinner::hide() {
  if (drawer_.joinable()) {
    drawer_.request_stop();
    drawer_.join();
  }
}

void Spinner::add(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  bytes_ += bytes;
}

void Spinner::draw(const std::stop_token& over) {
  std::unique_lock lock(mutex_);
  bool drawn = false;
  std::chrono::milliseconds pause = kSpinnerDelay;
  while (!wake_.wait_for(lock, over, pause, [&over] { return over.stop_requested(); })) {
    const auto now = std::chrono::steady_clock::now();
    const auto passed = now - began_.value_or(now);
    err_.write(cat(kEraseLine, spinner_text(passed, static_cast<std::int64_t>((bytes_ + 3) / 4))));
    // A failure of standard error cannot be reported.
    (void)err_.flush();
    drawn = true;
    pause = kSpinnerStep;
  }
  if (drawn) {
    err_.write(kEraseLine);
    (void)err_.flush();
  }
}

}  // namespace reprise::cli
