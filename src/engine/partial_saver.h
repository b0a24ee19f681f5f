#pragma once

// Saves a running answer while it streams: received blocks are in the store after at most the
// store's partial_interval() plus one write, with one write per interval however fast deltas
// arrive. A separate thread writes, so that the stream never waits for the store.

#include <condition_variable>
#include <deque>
#include <mutex>

#include "engine/reply.h"
#include "reprise/capabilities.h"
#include "reprise/provider.h"

namespace reprise {

// The maximum size of one write, unless a single delta is larger: stop() waits for at most one.
inline constexpr std::size_t kPartialBytesMax = std::size_t{1} << 20;

class PartialSaver {
 public:
  // Does nothing when `partials` is null or there is no answer. Both must outlive the saver.
  // `refused` is called from the saver's thread when the store reports that the answer is not
  // running.
  PartialSaver(Partials* partials, SessionId session, std::optional<OperationId> answer,
               std::function<void()> refused);
  ~PartialSaver();
  PartialSaver(const PartialSaver&) = delete;
  PartialSaver& operator=(const PartialSaver&) = delete;

  void on(const StreamEvent& event);
  // Stops writing; unwritten blocks are dropped. Returns the failure of the last write, if it
  // failed.
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
  // Guarded by mutex_: pieces to write, oldest first; removed by the thread only.
  std::deque<std::vector<Block>> pieces_;
  GrowingBlocks growing_;
  std::size_t growing_bytes_ = 0;
  std::optional<Error> failure_;  // used by the thread until it has ended
  std::jthread thread_;
};

}  // namespace reprise
