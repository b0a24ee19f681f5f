#pragma once

// The turns that the threads of this process run in one session: one at a time, in the order in
// which they came. The store would refuse a second one, too, but knows neither order nor waiting.

#include <chrono>
#include <optional>
#include <stop_token>
#include <utility>

#include "reprise/store.h"

namespace reprise {

// The right to run a turn in a session, until it is destroyed.
class TurnPlace {
 public:
  // Waits for the turns that came before, over the same store; nullopt after the deadline, and when
  // stopped.
  static std::optional<TurnPlace> wait(const Store& store, const SessionId& session,
                                       std::chrono::steady_clock::time_point deadline,
                                       const std::stop_token& stop);
  ~TurnPlace();
  TurnPlace(TurnPlace&& other) noexcept : queue_(std::exchange(other.queue_, nullptr)) {}
  TurnPlace& operator=(TurnPlace&& other) noexcept {
    std::swap(queue_, other.queue_);
    return *this;
  }
  TurnPlace(const TurnPlace&) = delete;
  TurnPlace& operator=(const TurnPlace&) = delete;

 private:
  struct Queue;
  class Queues;
  explicit TurnPlace(Queue& queue) : queue_(&queue) {}

  Queue* queue_;  // null after a move
};

}  // namespace reprise
