#pragma once

// The record of a session as the engine reads it: stored messages, then those in memory only.

#include <deque>
#include <span>
#include <type_traits>
#include <variant>

#include "engine/session_notes.h"
#include "reprise/store.h"

namespace reprise {

// A part of the record. The store and the messages in memory must outlive it.
struct HistorySlice {
  Store* store = nullptr;  // null: nothing is stored
  SessionId session;
  Seq from{0};
  Seq to{0};  // of the stored part
  std::span<const Message> memory = {};
  std::size_t unstored = 0;                    // of those, at the end: they have no seq yet
  std::optional<Message> last = std::nullopt;  // sent only, not recorded
  RefusedQuestions refused = {};
};

// The position of a message in a slice.
struct HistoryPosition {
  bool in_memory = false;
  std::size_t index = 0;   // in memory
  std::optional<Seq> seq;  // in the store; nullopt while it is not stored
};

// Calls `visit` with each text of a block. The URL of an image is not text.
template <class Visit>
void for_each_text(const Block& block, const Visit& visit) {
  const auto visit_kind = [&visit]<class Kind>(const Kind& part) {
    if constexpr (std::is_same_v<Kind, ToolUseBlock>) {
      visit(part.name);
      visit(part.input.text());
    } else if constexpr (std::is_same_v<Kind, UnknownBlock>) {
      visit(part.json.text());
    } else if constexpr (!std::is_same_v<Kind, ImageBlock>) {
      visit(part.text);
    }
  };
  std::visit(visit_kind, block);
}

// The size of a message's text, in constant time per block.
std::int64_t text_bytes(const Message& message);

// Reads from the newest message backwards (without `last`), until the sink returns stop.
using BackwardSink = std::function<Flow(const Message&, const HistoryPosition&)>;
Result<> read_backwards(const HistorySlice& slice, const BackwardSink& sink);

// The position of the last question, in the store or in memory.
Result<std::optional<HistoryPosition>> find_last_question(const HistorySlice& slice);

// The end of the record, which determines what can be continued.
struct RecordEnd {
  enum class Kind : std::uint8_t { nothing, question, calls, incomplete, answered };
  Kind kind = Kind::nothing;
  std::vector<Message> incomplete;  // the incomplete answers at the end, in order
  std::optional<Seq> from;          // of the first of them; nullopt while it is not stored
};
Result<RecordEnd> find_end(const HistorySlice& slice);

// Reads a slice from its start, in pages, so that a long history is never completely in memory.
class HistoryReader {
 public:
  explicit HistoryReader(HistorySlice slice);

  // The message `ahead` positions after the next one; null at the end, and beyond kAheadMessages or
  // kAheadBytes. It may be changed before it is taken.
  Message* peek(std::size_t ahead);
  std::optional<Message> take();
  void rewind();

  // The error if a stored part could not be read; it is left out.
  const std::optional<Error>& fault() const { return fault_; }
  std::int64_t damaged() const { return damaged_; }

 private:
  static constexpr std::size_t kAheadMessages = 64;
  static constexpr std::int64_t kAheadBytes = 1 << 20;

  struct Buffered {
    Message message;
    std::int64_t bytes;
  };
  bool load();
  void push(Message message);

  HistorySlice slice_;
  Seq at_;
  std::size_t memory_at_ = 0;
  bool is_last_returned_ = false;
  std::deque<Buffered> buffer_;
  std::int64_t buffer_bytes_ = 0;
  std::optional<Error> fault_;
  std::int64_t damaged_ = 0;
};

}  // namespace reprise
