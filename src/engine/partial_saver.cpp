#include "engine/partial_saver.h"

#include <mutex>

#include "engine/reply.h"
#include "reprise/capabilities.h"
#include "reprise/provider.h"

namespace reprise {

namespace {

std::size_t bytes_of(const StreamEvent& event) {
  return std::visit(
      [](const auto& piece) -> std::size_t {
        if constexpr (requires { piece.text.size(); }) {
          return piece.text.size();
        } else if constexpr (requires { piece.signature.size(); }) {
          return piece.signature.size();
        } else if constexpr (requires { piece.json.text(); }) {
          return piece.json.text().size();
        } else if constexpr (requires { piece.json.size(); }) {
          return piece.json.size();
        }
        return 0;
      },
      event);
}

}  // namespace

PartialSaver::PartialSaver(Partials* partials, SessionId session, std::optional<OperationId> answer,
                           std::function<void()> refused)
    : partials_(answer ? partials : nullptr),
      session_(std::move(session)),
      answer_(std::move(answer)),
      refused_(std::move(refused)) {}

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
    first = !has_pending();
    grow(growing_, event);
    growing_bytes_ += bytes_of(event);
    if (growing_bytes_ >= kPartialBytesMax) {
      end_piece();
    }
    first = first && has_pending();
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
  bool failed = false;
  while (wake_.wait(lock, stop, [this] { return has_pending(); })) {
    if (pieces_.empty() || failed) {
      wake_.wait_for(lock, stop, partials_->partial_interval(), [] { return false; });
    }
    if (stop.stop_requested()) {
      return;
    }
    if (pieces_.empty()) {
      end_piece();
    }
    std::vector<Block> piece = std::move(pieces_.front());
    pieces_.pop_front();
    lock.unlock();
    failed = !write(piece);
    lock.lock();
    if (failed) {  // retried before later pieces
      pieces_.push_front(std::move(piece));
    }
  }
}

void PartialSaver::end_piece() {
  pieces_.push_back(growing_.take_piece());
  growing_bytes_ = 0;
}

bool PartialSaver::write(const std::vector<Block>& piece) {
  const auto added =
      piece.empty() || !answer_ ? Result<>() : partials_->add_partial(session_, *answer_, piece);
  failure_ = added ? std::nullopt : std::optional(added.error());
  if (failure_ && failure_->code == Code::conflict) {
    refused_();
  }
  return !failure_;
}

std::optional<Error> PartialSaver::stop() {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
  return failure_;
}

}  // namespace reprise
