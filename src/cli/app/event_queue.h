#pragma once

// The one way from the worker and the running turns to the thread that owns the screen.

#include <condition_variable>
#include <deque>
#include <mutex>

#include "base/file.h"
#include "cli/app/event.h"  // IWYU pragma: export

namespace reprise::cli::app {

inline constexpr std::size_t kEventsMax = 4096;

// Bounded; thread-safe. One thread takes.
class EventQueue {
 public:
  // io when the system has no more descriptors.
  static Result<std::unique_ptr<EventQueue>> make();

  // Waits while the queue is full, so that nothing can be faster than the screen. After close(),
  // events are dropped.
  void post(Event event);

  // All that is there, without waiting.
  std::vector<Event> take();

  // Readable while there are events: for poll().
  int fd() const { return wake_.get(); }

  void close();

 private:
  explicit EventQueue(Fd wake) : wake_(std::move(wake)) {}

  Fd wake_;
  std::mutex mutex_;
  std::condition_variable room_;
  std::deque<Event> events_;
  bool closed_ = false;
};

}  // namespace reprise::cli::app
