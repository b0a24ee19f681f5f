#pragma once

// A stop token that is stopped after a timeout, or together with another one.

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

namespace reprise {

class TimeLimit {
 public:
  TimeLimit(std::chrono::milliseconds limit, std::stop_token other)
      : with_other_(std::move(other), Stop{source_}),
        timer_([this, limit](const std::stop_token& over) { wait(limit, over); }) {}

  std::stop_token token() const { return source_.get_token(); }

 private:
  struct Stop {
    std::stop_source source;
    void operator()() { source.request_stop(); }
  };

  void wait(std::chrono::milliseconds limit, const std::stop_token& over) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any never;
    (void)never.wait_for(lock, over, limit, [] { return false; });  // ends on timeout or stop
    source_.request_stop();
  }

  std::stop_source source_;
  std::stop_callback<Stop> with_other_;
  std::jthread timer_;  // last: it uses source_
};

}  // namespace reprise
