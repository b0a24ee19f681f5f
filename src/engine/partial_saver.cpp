#include "engine/partial_saver.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "engine/reply.h"
#include "reprise/error.h"
#include "reprise/message.h"
#include "reprise/provider.h"
#include "reprise/store_offers.h"
#include "reprise/types.h"

namespace reprise {

PartialSaver::PartialSaver(Partials* partials, SessionId session, std::optional<OperationId> answer)
    : partials_(answer ? partials : nullptr),
      session_(std::move(session)),
      answer_(std::move(answer)) {}

PartialSaver::~PartialSaver() {
  stop();
}

void PartialSaver::on(const StreamEvent& event) {
  if (partials_ == nullptr) {
    return;
  }
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = pending_.empty();
    grow(pending_, event);
    first = first && !pending_.empty();
  }
  if (!first) {
    return;
  }
  if (!thread_.joinable()) {
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }
  wake_.notify_one();
}

void PartialSaver::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (wake_.wait(lock, stop, [this] { return !pending_.empty(); })) {
    wake_.wait_for(lock, stop, kPartialPause, [] { return false; });
    if (stop.stop_requested()) {
      return;
    }
    auto blocks = pending_.take_piece();
    lock.unlock();
    write(std::move(blocks));
    lock.lock();
  }
}

// What fails is kept before what comes later and tried again with it.
void PartialSaver::write(std::vector<Block> blocks) {
  std::ranges::move(blocks, std::back_inserter(unwritten_));
  if (unwritten_.empty() || !answer_) {
    return;
  }
  if (const auto added = partials_->add(session_, *answer_, unwritten_); added) {
    unwritten_.clear();
  } else if (!failure_) {
    failure_ = added.error();
  }
}

std::optional<Error> PartialSaver::stop() {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
  return failure_;
}

void PartialSaver::flush() {
  if (partials_ != nullptr) {
    write(pending_.take_piece());
  }
}

}  // namespace reprise
