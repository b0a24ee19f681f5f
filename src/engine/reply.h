#pragma once

// A reply while it streams: the events become the blocks of a message.

#include "reprise/provider.h"

namespace reprise {

// Blocks that grow at their end. Tool inputs are raw text until they are taken.
class GrowingBlocks {
 public:
  void text(std::string_view piece);
  void thinking(std::string_view piece);
  void signature(std::string_view piece);
  void tool_use(std::string_view id, std::string_view name);
  void tool_input(std::string_view piece);
  void raw(const RawJson& block);

  bool empty() const { return blocks_.empty(); }
  // As they go into a message; the inputs are JSON.
  std::vector<Block> take_whole();
  // As they go into a running answer: the inputs are JSON strings of what has come. A tool use
  // that began in an earlier piece is named again.
  std::vector<Block> take_piece();

 private:
  std::vector<Block> blocks_;
  std::string id_;  // of the last tool use, also when it was taken
  std::string name_;
  std::vector<std::string> inputs_;  // of the tool uses among the blocks, in order
};

class Reply {
 public:
  void on(const StreamEvent& event);

  // Something of the answer has come that is worth keeping.
  bool has_content() const { return !blocks_.empty(); }
  bool ended() const { return reason_.has_value(); }
  std::optional<StopReason> reason() const { return reason_; }
  const std::optional<Usage>& usage() const { return usage_; }
  // Blocks, model, response id and usage; the rest is the caller's. Empties the reply.
  Message take_message();

 private:
  GrowingBlocks blocks_;
  std::string response_id_;
  std::string model_;
  std::optional<Usage> usage_;
  std::optional<StopReason> reason_;
};

// `event` as the end of the blocks, when it is one.
void grow(GrowingBlocks& blocks, const StreamEvent& event);

}  // namespace reprise
