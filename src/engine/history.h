#pragma once

// The record of a session as the engine reads it: what the store has, then what only memory has.

#include <deque>
#include <span>

#include "engine/unanswered.h"
#include "reprise/store.h"

namespace reprise {

// A part of the record. The store and the messages in memory must outlive it.
struct HistorySlice {
  Store* store = nullptr;  // null: nothing is stored
  SessionId session;
  Seq from{0};
  Seq to{0};  // of the stored part
  std::span<const Message> memory = {};
  std::optional<Message> last = std::nullopt;  // said in the request only
  RefusedQuestions refused = {};
};

// Where a message of a slice stands.
struct HistoryPlace {
  bool in_memory = false;
  std::size_t index = 0;  // in memory
  Seq seq{0};             // in the store
};

// The bytes of a message's text, cheaply.
std::int64_t text_bytes(const Message& message);

// From the newest back (`last` left out), until the sink says stop.
using BackwardSink = std::function<Flow(const Message&, const HistoryPlace&)>;
Result<> read_backwards(const HistorySlice& slice, const BackwardSink& sink);

// Reads a slice from its beginning, in pages, so that a long history is never in memory whole.
class HistoryReader {
 public:
  explicit HistoryReader(HistorySlice slice);

  // The message `ahead` places on; null at the end, and further ahead than kAheadMessages or
  // kAheadBytes reach. May be changed before it is taken.
  Message* peek(std::size_t ahead);
  std::optional<Message> take();
  void rewind();

  // A stored part that cannot be read is left out; this is why.
  const std::optional<Error>& fault() const { return fault_; }
  std::int64_t damaged() const { return damaged_; }

 private:
  static constexpr std::size_t kAheadMessages = 64;
  static constexpr std::int64_t kAheadBytes = 1 << 20;

  struct Waiting {
    Message message;
    std::int64_t bytes;
  };
  bool load();
  void push(Message message);

  HistorySlice slice_;
  Seq at_;
  std::size_t memory_at_ = 0;
  bool last_given_ = false;
  std::deque<Waiting> waiting_;
  std::int64_t waiting_bytes_ = 0;
  std::optional<Error> fault_;
  std::int64_t damaged_ = 0;
};

}  // namespace reprise
