#pragma once

// Keeps a running answer as it streams: what has come is in the store at most kPartialPause and
// one write later, with one write in that time however fast the deltas come. The writes are made
// by a thread of their own, so that the stream never waits for the store.

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "engine/reply.h"
#include "reprise/error.h"
#include "reprise/message.h"
#include "reprise/provider.h"
#include "reprise/store_offers.h"
#include "reprise/types.h"

namespace reprise {

// Less than the 50 ms that are promised: what streams fast is looked at every 8 ms, and the write
// itself takes a while.
inline constexpr std::chrono::milliseconds kPartialPause{36};

class PartialSaver {
 public:
  // Does nothing when `partials` is null or there is no answer. Both must outlive the saver.
  PartialSaver(Partials* partials, SessionId session, std::optional<OperationId> answer);
  ~PartialSaver();
  PartialSaver(const PartialSaver&) = delete;
  PartialSaver& operator=(const PartialSaver&) = delete;

  void on(const StreamEvent& event);
  // Stops writing; what has not been written stays here. The first failure, if there was one.
  std::optional<Error> stop();
  // Writes the rest, for when the whole message could not be stored. After stop().
  void flush();

 private:
  void run(const std::stop_token& stop);
  void write(std::vector<Block> blocks);

  Partials* partials_;
  SessionId session_;
  std::optional<OperationId> answer_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  GrowingBlocks pending_;         // guarded by mutex_
  std::vector<Block> unwritten_;  // the thread's, until it has ended
  std::optional<Error> failure_;  // likewise
  std::jthread thread_;
};

}  // namespace reprise
