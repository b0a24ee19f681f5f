#pragma once

// Keeps a running answer as it streams: what has come is in the store at most the store's
// partial_interval() and one write later, with one write in that time however fast the deltas come.
// The writes are made by a thread of their own, so that the stream never waits for the store.

#include <condition_variable>
#include <deque>
#include <mutex>

#include "engine/reply.h"
#include "reprise/capabilities.h"
#include "reprise/provider.h"

namespace reprise {

// What is written in one go, unless more comes as one: whoever stops waits for that much at most.
inline constexpr std::size_t kPartialBytesMax = std::size_t{1} << 20;

class PartialSaver {
 public:
  // Does nothing when `partials` is null or there is no answer. Both must outlive the saver.
  // `refused` is called, from the saver's thread, when the store says that the answer does not run.
  PartialSaver(Partials* partials, SessionId session, std::optional<OperationId> answer,
               std::function<void()> refused);
  ~PartialSaver();
  PartialSaver(const PartialSaver&) = delete;
  PartialSaver& operator=(const PartialSaver&) = delete;

  void on(const StreamEvent& event);
  // Stops writing; what has not been written stays here. The first failure, if there was one.
  std::optional<Error> stop();

 private:
  bool has_pending() const { return !pieces_.empty() || !growing_.empty(); }
  void end_piece();
  void run(const std::stop_token& stop);
  bool write(const std::vector<Block>& piece);

  Partials* partials_;
  SessionId session_;
  std::optional<OperationId> answer_;
  std::function<void()> refused_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  // Guarded by mutex_: what is to be written, the first first; only the thread takes it.
  std::deque<std::vector<Block>> pieces_;
  GrowingBlocks growing_;
  std::size_t growing_bytes_ = 0;
  std::optional<Error> failure_;  // the thread's, until it has ended
  std::jthread thread_;
};

}  // namespace reprise
