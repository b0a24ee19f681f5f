#pragma once

// What took long to read is used for a while without looking for changes.

#include <chrono>

namespace reprise::source {

class ReuseTime {
 public:
  using Clock = std::chrono::steady_clock;

  // It has just been read, from `start` on.
  void begin(Clock::time_point start) {
    constexpr std::chrono::milliseconds kQuick{50};
    constexpr int kFactor = 10;  // reading takes at most this part of the time
    const auto now = Clock::now();
    end_ = now - start < kQuick ? now : now + kFactor * (now - start);
  }
  bool is_over() const { return Clock::now() >= end_; }

 private:
  Clock::time_point end_;
};

}  // namespace reprise::source
