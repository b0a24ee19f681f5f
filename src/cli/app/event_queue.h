#pragma once

// Passes events from the worker and the running turns to the thread that owns the screen, and its
// answers to their questions.

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>

#include "base/file.h"
#include "cli/app/event.h"        // IWYU pragma: export
#include "cli/process/console.h"  // IWYU pragma: export
#include "reprise/tool.h"

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

// Passes questions of running turns to the user: whether a tool may run. The turn waits for the
// answer. Thread-safe.
class Consents {
 public:
  explicit Consents(EventQueue& events) : events_(events) {}

  // Asks and waits; Choice::no on a stop request.
  Choice ask(TabId tab, std::string question, const std::stop_token& stop);
  void answer(int number, Choice choice);

 private:
  EventQueue& events_;
  std::mutex mutex_;
  std::condition_variable_any answered_;
  int last_number_ = 0;
  std::map<int, Choice> answers_;
};

}  // namespace reprise::cli::app
