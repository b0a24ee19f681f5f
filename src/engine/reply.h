#pragma once

// Assembles the blocks of a message from the events of a streaming reply. The input of a tool call
// is converted from the model's text to what can be sent and run.

#include <optional>

#include "reprise/provider.h"
#include "reprise/types.h"

namespace reprise {

// The input as the model wrote it: JSON, or a JSON string with text that is not JSON. "" is an
// empty object.
RawJson input_from_text(std::string_view text);

// Blocks that are appended to. Tool inputs are raw text until they are taken.
class GrowingBlocks {
 public:
  void text(std::string_view piece);
  void thinking(std::string_view piece);
  void signature(std::string_view piece);
  void tool_use(std::string_view id, std::string_view name);
  void tool_input(std::string_view piece);
  void raw(const RawJson& block);
  // Of the last call or text; without one they are dropped.
  void members(const RawJson& json, bool of_call);

  bool empty() const { return blocks_.empty(); }
  // Takes the blocks for a message; the inputs are JSON.
  std::vector<Block> take_complete() { return take(input_from_text); }
  // Takes the blocks for a running answer: the inputs are JSON strings with the text so far. A tool
  // use that started in an earlier piece is repeated.
  std::vector<Block> take_piece() { return take(RawJson::string); }

 private:
  std::vector<Block> take(RawJson (*input_json)(std::string_view text));

  std::vector<Block> blocks_;
  std::string id_;  // of the last tool use, even after it was taken
  std::string name_;
  std::vector<std::string> inputs_;  // of the tool uses among the blocks, in order
};

class Reply {
 public:
  void on(const StreamEvent& event);

  // Whether there is anything worth storing.
  bool has_content() const { return !blocks_.empty(); }
  bool ended() const { return reason_.has_value(); }
  std::optional<StopReason> reason() const { return reason_; }
  const std::string& word() const { return word_; }  // the server's for that reason
  // Returns blocks, model, response id and usage; the caller sets the other members. Clears the
  // reply.
  Message take_message();

 private:
  GrowingBlocks blocks_;
  std::string response_id_;
  std::string model_;
  std::optional<Usage> usage_;
  std::optional<StopReason> reason_;
  std::string word_;
};

// Appends `event` to the blocks if it has content.
void grow(GrowingBlocks& blocks, const StreamEvent& event);

// The object that a tool can be run with: {} for null; a JSON string may contain one. nullopt
// otherwise.
std::optional<RawJson> runnable_input(const RawJson& input);

// An object, as providers require: the runnable one, or {"_raw": …} around anything else.
RawJson input_object(const RawJson& input);

bool is_object(const RawJson& input);

}  // namespace reprise
