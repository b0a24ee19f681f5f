#include "cli/app/consents.h"

#include <mutex>
#include <stop_token>

#include "cli/app/event_queue.h"

namespace reprise::cli::app {

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
