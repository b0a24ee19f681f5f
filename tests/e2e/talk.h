#pragma once

// One request to a provider, and its result.

#include "reprise/provider.h"

namespace reprise::e2e {

class ListedMessages final : public RequestMessages {
 public:
  explicit ListedMessages(std::vector<Message> messages) : messages_(std::move(messages)) {}

  Result<std::optional<Message>> next() override;
  Result<> rewind() override;
  std::int64_t bytes_estimate() const override;

 private:
  std::vector<Message> messages_;
  std::size_t at_ = 0;
};

struct Reply {
  Result<> result;
  std::vector<Block> blocks;  // as they would be stored
  std::string response_id;
  std::string model;
  std::optional<Usage> usage;
  std::optional<StopReason> ended;
  std::vector<Retrying> retries;

  std::string text() const;
  std::string thinking() const;
  std::vector<ToolUseBlock> calls() const;
};

struct Ask {
  std::vector<Message> messages;
  std::string model = "m";
  std::vector<ToolSpec> tools = {};
  std::string system = {};
  std::string previous_response_id = {};
  bool stream = true;
  std::function<void(const StreamEvent&)> watch = [](const StreamEvent&) {};
};

Reply conversation(Provider& provider, const Ask& ask, std::stop_token stop = {});

Message user(std::string_view text);
Message message(std::string_view role, std::vector<Block> blocks);

}  // namespace reprise::e2e
