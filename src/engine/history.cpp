#include "engine/history.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <variant>

#include "reprise/source.h"

namespace reprise {
namespace {

constexpr std::size_t kPageMessages = 512;
constexpr std::int64_t kPageBytes = 256 << 10;

bool is_call(const Block& block) {
  return std::holds_alternative<ToolUseBlock>(block);
}

}  // namespace

std::int64_t text_bytes(const Message& message) {
  std::size_t bytes = 0;
  for (const Block& block : message.blocks) {
    for_each_text(block, [&bytes](std::string_view text) { bytes += text.size(); });
    const auto* const image = std::get_if<ImageBlock>(&block);
    bytes += image != nullptr ? image->url.size() : 0;
  }
  return static_cast<std::int64_t>(bytes);
}

Result<> read_backwards(const HistorySlice& slice, const BackwardSink& sink) {
  for (std::size_t i = slice.memory.size(); i-- > 0;) {
    const Message& message = slice.memory[i];
    const bool is_stored = i + slice.unstored < slice.memory.size();
    const auto seq = is_stored ? std::optional(message.seq) : std::nullopt;
    if (sink(message, {.in_memory = true, .index = i, .seq = seq}) == Flow::stop) {
      return {};
    }
  }
  if (slice.store == nullptr || slice.from >= slice.to) {
    return {};
  }
  const auto stored = [&sink](Message&& message) {  // NOLINT(*-rvalue-reference-param-not-moved)
    return sink(message, {.in_memory = false, .index = 0, .seq = message.seq});
  };
  const ReadRange range{.from = slice.from, .to = slice.to, .newest_first = true};
  REPRISE_TRY(slice.store->read(slice.session, range, stored));
  return {};
}

HistoryReader::HistoryReader(HistorySlice slice) : slice_(std::move(slice)), at_(slice_.from) {}

void HistoryReader::push(Message message) {
  const auto bytes = text_bytes(message);
  buffer_bytes_ += bytes;
  buffer_.push_back({std::move(message), bytes});
}

// Loads one more page; false at the end.
bool HistoryReader::load() {
  const std::size_t before = buffer_.size();
  while (slice_.store != nullptr && at_ < slice_.to && buffer_.size() == before) {
    std::int64_t page_bytes = 0;
    bool full = false;
    const auto sink = [&](Message&& message) {
      page_bytes += text_bytes(message);
      at_ = message.seq.next();
      push(std::move(message));
      full = buffer_.size() - before >= kPageMessages || page_bytes >= kPageBytes;
      return full ? Flow::stop : Flow::proceed;
    };
    const auto report = slice_.store->read(slice_.session, {.from = at_, .to = slice_.to}, sink);
    if (!report) {
      fault_ = report.error();
    } else {
      damaged_ += report->damaged;
    }
    if (!full) {
      at_ = slice_.to;
    }
  }
  if (buffer_.size() == before && memory_at_ < slice_.memory.size()) {
    push(slice_.memory[memory_at_++]);
  }
  if (buffer_.size() == before && slice_.last && !is_last_returned_) {
    is_last_returned_ = true;
    push(*slice_.last);
  }
  return buffer_.size() > before;
}

Message* HistoryReader::peek(std::size_t ahead) {
  while (ahead >= buffer_.size()) {
    const bool too_far = ahead >= kAheadMessages || buffer_bytes_ > kAheadBytes;
    if ((!buffer_.empty() && too_far) || !load()) {
      return nullptr;
    }
  }
  return &buffer_[ahead].message;
}

std::optional<Message> HistoryReader::take() {
  if (peek(0) == nullptr) {
    return std::nullopt;
  }
  Buffered first = std::move(buffer_.front());
  buffer_.pop_front();
  buffer_bytes_ -= first.bytes;
  return std::move(first.message);
}

void HistoryReader::rewind() {
  at_ = slice_.from;
  memory_at_ = 0;
  is_last_returned_ = false;
  buffer_.clear();
  buffer_bytes_ = 0;
  fault_.reset();
  damaged_ = 0;
}

Result<std::optional<HistoryPosition>> find_last_question(const HistorySlice& slice) {
  std::optional<HistoryPosition> found;
  const auto sink = [&found](const Message& message, const HistoryPosition& position) {
    if (is_question(message)) {
      found = position;
    }
    return found ? Flow::stop : Flow::proceed;
  };
  REPRISE_TRY(read_backwards(slice, sink));
  return found;
}

Result<RecordEnd> find_end(const HistorySlice& slice) {
  RecordEnd end;
  const auto sink = [&end](const Message& message, const HistoryPosition& position) {
    const bool assistant = message.role == role::kAssistant;
    if (assistant && message.state == MessageState::incomplete) {
      end.kind = RecordEnd::Kind::incomplete;
      end.incomplete.insert(end.incomplete.begin(), message);
      end.from = position.seq;
      return Flow::proceed;
    }
    if (end.kind == RecordEnd::Kind::incomplete) {
      return Flow::stop;
    }
    if (assistant) {
      end.kind = std::ranges::any_of(message.blocks, is_call) ? RecordEnd::Kind::calls
                                                              : RecordEnd::Kind::answered;
      return Flow::stop;
    }
    if (message.role == role::kUser || message.role == role::kTool) {
      end.kind = RecordEnd::Kind::question;
      return Flow::stop;
    }
    return Flow::proceed;
  };
  REPRISE_TRY(read_backwards(slice, sink));
  return end;
}

}  // namespace reprise
