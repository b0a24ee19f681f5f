#include "cli/app/event_queue.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>
#include <stop_token>
#include <utility>
#include <vector>

#include "base/file.h"

namespace reprise::cli::app {

Result<std::unique_ptr<EventQueue>> EventQueue::make() {
  Fd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (wake.get() < 0) {
    return fail(Code::io, "cannot wait for events", errno);
  }
  return std::unique_ptr<EventQueue>(new EventQueue(std::move(wake)));
}

void EventQueue::post(Event event) {
  std::unique_lock lock(mutex_);
  room_.wait(lock, [this] { return closed_ || events_.size() < kEventsMax; });
  if (closed_) {
    return;
  }
  events_.push_back(std::move(event));
  const std::uint64_t one = 1;
  // Fails only if the counter is full, which is readable anyway.
  (void)!::write(wake_.get(), &one, sizeof one);
}

std::vector<Event> EventQueue::take() {
  std::uint64_t count = 0;
  // Read before taking the events: an event posted in between causes a spurious wakeup, never a
  // lost one.
  (void)!::read(wake_.get(), &count, sizeof count);
  const std::lock_guard lock(mutex_);
  std::vector<Event> out(std::make_move_iterator(events_.begin()),
                         std::make_move_iterator(events_.end()));
  events_.clear();
  room_.notify_all();
  return out;
}

void EventQueue::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  room_.notify_all();
}

Choice Consents::ask(TabId tab, std::string question, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const int number = ++last_number_;
  lock.unlock();
  events_.post(ConsentRequest{.tab = tab, .number = number, .question = std::move(question)});
  lock.lock();
  if (!answered_.wait(lock, stop, [&] { return answers_.contains(number); })) {
    return Choice::no;
  }
  const Choice choice = answers_.at(number);
  answers_.erase(number);
  return choice;
}

void Consents::answer(int number, Choice choice) {
  const std::lock_guard lock(mutex_);
  answers_[number] = choice;
  answered_.notify_all();
}

}  // namespace reprise::cli::app
