#pragma once

// The way of an answer from a protocol's reader to the sink: text is handed on in whole characters,
// and blocks one after the other even when a server mixes the pieces of several tool calls.

#include <deque>
#include <unordered_map>

#include "reprise/provider.h"

namespace reprise::provider {

// Decodes one text that comes in many JSON strings. What is cut at the end of one (a surrogate
// pair, the bytes of a character) is kept until the rest has come.
class DeltaText {
 public:
  // `raw` is a JSON string with its quotes, already validated.
  std::string decode(std::string_view raw);
  // What was kept and will never be whole: U+FFFD, or "".
  std::string rest();

 private:
  std::string pending_;  // as it stands in JSON
};

inline constexpr std::int64_t kBlockBytes = 256;  // what a block takes beside its text

class ReplyOut {
 public:
  // `sink` must outlive it.
  explicit ReplyOut(const StreamSink& sink) : sink_(sink) {}

  // The ids are held back until the first piece of the answer: until then a retry is possible.
  void started(std::string_view response_id, std::string_view model);

  // Each continues the open block of its kind, or begins one. `raw` is a JSON string. The pieces of
  // one block are handed on together, by flush() at the latest.
  void text(std::string_view raw) { piece(Kind::text, raw); }
  void thinking(std::string_view raw) { piece(Kind::thinking, raw); }
  void signature(std::string_view signature);
  void raw_block(std::string_view json);

  // A tool call is open from here until tool_end() or the end of the answer. Tool calls are told
  // apart by `key`.
  void tool(std::int64_t key, std::string_view id, std::string_view name);
  void tool_input(std::int64_t key, std::string_view raw);          // a JSON string
  void tool_input_object(std::int64_t key, std::string_view json);  // whole, as it is
  void tool_end(std::int64_t key);
  bool has_tool(std::int64_t key) const { return by_key_.contains(key); }

  // Hands on the text that has come: the one who calls does not know when more will come.
  void flush();

  // Ends all open blocks. Of a cut answer too, all that came is handed on; a call without input is
  // one without arguments only when the answer is whole.
  void end_blocks();
  void cut_blocks();

  void usage(const Usage& usage);
  void ended(StopReason reason);

  bool began() const { return began_; }  // something was handed on
  bool used_tools() const { return !tools_.empty(); }
  // How much of the answer has come, handed on or not; a little for each block is in it, so that
  // many small ones are bounded, too.
  std::int64_t bytes() const { return bytes_; }
  std::size_t calls() const { return tools_.size(); }
  const std::string& response_id() const { return response_id_; }
  const std::string& model() const { return model_; }

 private:
  enum class Kind : std::uint8_t { text, thinking, signature, raw };

  struct Tool {
    std::string id;
    std::string name;
    DeltaText delta = {};
    std::string waiting = {};  // input that waits for its turn
    bool announced = false;
    bool has_input = false;
    bool done = false;
  };
  struct Later {  // came while a tool call was open
    Kind kind;
    std::string text;
  };

  void piece(Kind kind, std::string_view raw);
  void hand_on(Kind kind, std::string_view text);
  void end_text();
  void add_input(Tool& tool, std::string_view text);
  void close_tool(Tool& tool);
  void close_all();
  void advance();
  Tool* open_tool(std::int64_t key);
  void count(std::string_view text) { bytes_ += static_cast<std::int64_t>(text.size()); }
  void count_block() { bytes_ += kBlockBytes; }
  Tool* live_tool();
  void send(const StreamEvent& event);

  const StreamSink& sink_;
  std::string response_id_;
  std::string model_;
  std::int64_t bytes_ = 0;
  bool began_ = false;
  bool in_text_ = false;  // the last block is text or thinking of kind_, and may go on
  Kind kind_ = Kind::text;
  DeltaText delta_;
  std::string joined_;      // text of the open block that is not handed on yet
  std::deque<Tool> tools_;  // in the order they began; all before live_ are handed on
  std::unordered_map<std::int64_t, std::size_t> by_key_;  // where in tools_
  std::size_t live_ = 0;
  std::deque<Later> later_;
};

}  // namespace reprise::provider
