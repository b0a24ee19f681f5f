#pragma once

// Passes events from the worker and the running turns to the thread that owns the screen.

#include <condition_variable>
#include <deque>
#include <mutex>

#include "base/file.h"
#include "cli/app/event.h"  // IWYU pragma: export

namespace reprise::cli::app {

inline constexpr std::size_t kEventsMax = 4096;

// Bounded; thread-safe with a single consumer.
class EventQueue {
 public:
  // io if the process is out of descriptors.
  static Result<std::unique_ptr<EventQueue>> make();

  // Blocks while the queue is full, so that producers cannot outrun the screen. After close(),
  // drops events.
  void post(Event event);

  // Takes all events without waiting.
  std::vector<Event> take();

  // Readable while there are events; for poll().
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
