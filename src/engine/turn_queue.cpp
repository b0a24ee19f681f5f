#include "engine/turn_queue.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>

namespace reprise {

struct TurnPlace::Queue {
  std::pair<const Store*, std::string> name;
  std::deque<std::uint64_t> tickets = {};  // the first one has the place
};

// All queues that somebody is in.
class TurnPlace::Queues {
 public:
  static Queues& instance() {
    static Queues queues;
    return queues;
  }

  Queue* enter(const Store& store, const SessionId& session,
               std::chrono::steady_clock::time_point deadline, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    const std::pair name(&store, session.str());
    Queue& queue = queues_.try_emplace(name, Queue{.name = name}).first->second;
    const std::uint64_t ticket = next_ticket_++;
    queue.tickets.push_back(ticket);
    const auto is_first = [&] { return queue.tickets.front() == ticket; };
    if (changed_.wait_until(lock, stop, deadline, is_first)) {
      return &queue;
    }
    std::erase(queue.tickets, ticket);
    drop_if_empty(queue);
    return nullptr;
  }

  void leave(Queue& queue) {
    const std::lock_guard lock(mutex_);
    queue.tickets.pop_front();
    drop_if_empty(queue);
    changed_.notify_all();
  }

 private:
  void drop_if_empty(const Queue& queue) {
    if (queue.tickets.empty()) {
      queues_.erase(std::pair(queue.name));
    }
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<std::pair<const Store*, std::string>, Queue> queues_;
  std::uint64_t next_ticket_ = 0;
};

std::optional<TurnPlace> TurnPlace::wait(const Store& store, const SessionId& session,
                                         std::chrono::steady_clock::time_point deadline,
                                         const std::stop_token& stop) {
  Queue* const queue = Queues::instance().enter(store, session, deadline, stop);
  return queue == nullptr ? std::nullopt : std::optional(TurnPlace(*queue));
}

TurnPlace::~TurnPlace() {
  if (queue_ != nullptr) {
    Queues::instance().leave(*queue_);
  }
}

}  // namespace reprise
