#pragma once

// Passes an answer from a protocol's reader to the sink: text as whole characters, and blocks one
// after another even if a server interleaves several tool calls.

#include <deque>
#include <set>
#include <unordered_map>

#include "reprise/provider.h"

namespace reprise::provider {

// Decodes one text that arrives in many JSON strings. An incomplete end (half of a surrogate pair,
// a partial character) is held back until the next string.
class DeltaText {
 public:
  // `raw` is a JSON string with its quotes, already validated.
  std::string decode(std::string_view raw);
  // The held-back end at the end of the text: U+FFFD, or "".
  std::string finish();

 private:
  std::string pending_;  // JSON-escaped
};

inline constexpr std::int64_t kBlockBytes = 256;  // overhead per block

class ReplyWriter {
 public:
  // `sink` and `good_ends`, see ProviderOptions, must outlive this.
  explicit ReplyWriter(const StreamSink& sink, std::span<const std::string> good_ends = {})
      : sink_(sink), good_ends_(good_ends) {}

  // The ids are not emitted before the first piece of the answer: a retry is possible until then.
  void started(std::string_view response_id, std::string_view model);

  // Each continues the open block of its kind, or starts one. `raw` is a JSON string. The pieces of
  // one block are joined until flush() at the latest.
  void text(std::string_view raw) { piece(Kind::text, raw); }
  void thinking(std::string_view raw) { piece(Kind::thinking, raw); }
  void signature(std::string_view signature);
  void raw_block(std::string_view json);

  // A tool call is open until tool_end() or the end of the answer. `key` identifies it. Its id and
  // name may come late, twice, or the name in pieces; a call that gets no id, or that of an earlier
  // call of this answer, is assigned one, since its result must refer to it.
  void tool(std::int64_t key, std::string_view id, std::string_view name);
  void tool_members(std::int64_t key, std::string_view json);       // unknown ones, as an object
  void tool_input(std::int64_t key, std::string_view raw);          // a JSON string
  void tool_input_object(std::int64_t key, std::string_view json);  // the whole object
  void tool_end(std::int64_t key);

  // Unknown members that belong to the text; call after end_blocks().
  void text_members(std::string_view json);

  // Emits the text so far: call it when more may take a while.
  void flush();

  // Ends all open blocks. Of an interrupted answer everything that arrived is emitted, too; a call
  // without input has no arguments only if the answer is complete.
  void end_blocks();
  void end_open_blocks();

  void usage(const Usage& usage);
  void ended(StopReason reason, std::string_view word = {});

  bool began() const { return began_; }  // something was emitted
  bool used_tools() const { return !tools_.empty(); }
  // Whether there are words or calls, and no call stops in the middle of its input.
  bool is_whole() const;
  // The size of the answer so far, emitted or not, with an overhead per block, so that many small
  // blocks are limited, too.
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
    std::string input = {};    // so far
    std::string members = {};  // an object; "" for none
    bool announced = false;
    bool has_input = false;
    bool done = false;
  };
  struct Deferred {  // arrived while a tool call was open
    Kind kind;
    std::string text;
  };

  void piece(Kind kind, std::string_view raw);
  void emit(Kind kind, std::string_view text);
  void end_text();
  void add_input(Tool& tool, std::string_view text);
  void announce(Tool& tool);
  void close_tool(Tool& tool);
  void advance();
  Tool* open_tool(std::int64_t key);
  void count(std::string_view text) { bytes_ += static_cast<std::int64_t>(text.size()); }
  void count_block() { bytes_ += kBlockBytes; }
  Tool* current_tool();
  void send(const StreamEvent& event);

  const StreamSink& sink_;
  std::span<const std::string> good_ends_;
  std::string response_id_;
  std::string model_;
  std::int64_t bytes_ = 0;
  bool began_ = false;
  bool in_text_ = false;  // the last block is text or thinking of kind_, and can be continued
  Kind kind_ = Kind::text;
  DeltaText delta_;
  std::string joined_;                      // text of the open block that is not emitted yet
  bool has_words_ = false;                  // text other than thinking
  std::set<std::string, std::less<>> ids_;  // of the calls announced so far
  std::deque<Tool> tools_;  // in order of arrival; those before current_ are emitted
  std::unordered_map<std::int64_t, std::size_t> by_key_;  // index of tools_
  std::size_t current_ = 0;
  std::deque<Deferred> deferred_;
};

}  // namespace reprise::provider
