#pragma once

// Constructs a message in one expression, and a request's messages in memory.

#include <variant>  // IWYU pragma: export

#include "reprise/message.h"
#include "reprise/provider.h"

namespace reprise {

inline Message message_of(std::string_view role, std::vector<Block> blocks, Time created_at = {}) {
  Message message;
  message.role = role;
  message.blocks = std::move(blocks);
  message.created_at = created_at;
  return message;
}

class FixedMessages final : public RequestMessages {
 public:
  explicit FixedMessages(std::vector<Message> messages) : messages_(std::move(messages)) {}

  Result<std::optional<Message>> next() override {
    if (at_ == messages_.size()) {
      return std::optional<Message>();
    }
    return std::optional<Message>(messages_.at(at_++));
  }
  Result<> rewind() override {
    at_ = 0;
    return {};
  }
  std::int64_t bytes_estimate() const override {
    std::int64_t bytes = 0;
    for (const Message& message : messages_) {
      bytes += static_cast<std::int64_t>(plain_text(message).size());
    }
    return bytes;
  }

 private:
  std::vector<Message> messages_;
  std::size_t at_ = 0;
};

}  // namespace reprise
