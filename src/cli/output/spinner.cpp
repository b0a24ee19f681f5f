#include "cli/output/spinner.h"

#include <array>

#include "base/text.h"

namespace reprise::cli {
namespace {

constexpr std::chrono::milliseconds kSpinnerStep{125};
// Shorter waits need no spinner.
constexpr std::chrono::milliseconds kSpinnerDelay{400};
constexpr std::string_view kEraseLine = "\r\x1b[K";

}  // namespace

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
