#pragma once

// Passes questions of running turns to the user: whether a tool may run. The turn waits for the
// answer.

#include <condition_variable>
#include <mutex>

#include "cli/app/effect.h"
#include "cli/app/event.h"  // IWYU pragma: export
#include "reprise/tool.h"

namespace reprise::cli::app {

class EventQueue;

// Thread-safe.
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
