#pragma once

// The messages that are sent to a provider: whatever the record contains, the provider accepts the
// request (P5).
//  (1) The roles user and assistant alternate, starting with user; no message is empty.
//  (2) Every tool call is directly followed by its result, wherever that is in the record; a call
//      without one gets an error result, a result without a call is left out.
//  (3) Opaque parts (thinking, raw blocks, unknown members) are sent only to the provider, server
//  and
//      model that made them; nothing opaque ends an answer.
//  (4) Call ids go back to their maker as they came; anybody else gets ids that every server takes,
//      the same in each request.
//  (5) A turn that the model refused to answer is left out once something else was asked.
//  (6) Blobs are read back, up to a limit.
// ViewOptions::form changes more, where a server has asked for it.
// The record is not changed. Memory is bounded by one message and the look-ahead of the reader.

#include <deque>
#include <unordered_set>

#include "engine/history.h"
#include "engine/maker.h"
#include "engine/request_ladder.h"
#include "engine/request_repairs.h"
#include "reprise/provider.h"

namespace reprise {

struct ViewOptions {
  HistorySlice slice;
  std::vector<std::string> open_calls = {};  // calls in messages that the provider already has
  std::int64_t bytes_estimate = 0;
  Maker target = {};  // who gets the request
  RequestForm form = {};
  std::string prompt = {};                      // for the first question, if the form has it there
  std::optional<Time> question = std::nullopt;  // the time of this turn's question
};

class RequestView final : public RequestMessages {
 public:
  // `provider` must outlive the view.
  RequestView(const Provider& provider, ViewOptions options);

  Result<std::optional<Message>> next() override;
  Result<> rewind() override;
  std::int64_t bytes_estimate() const override { return options_.bytes_estimate; }

  // The repairs of the messages read since the last rewind().
  RequestRepairs repairs() const;
  const std::optional<Error>& fault() const { return reader_.fault(); }
  // What the messages read since then had.
  const SentParts& sent() const { return sent_; }

 private:
  struct Piece {
    bool assistant = false;
    bool incomplete = false;
    std::vector<Block> blocks = {};
    OpenCalls calls = {};
  };
  // The answer whose blocks are read.
  struct Source {
    const Message& message;
    bool is_own;  // made by the target
  };
  bool is_separate(const Piece& piece, const Message& message, bool has_results);
  std::optional<Message> next_message();
  std::optional<Piece> next_piece();
  std::optional<Piece> take_piece();
  bool is_omitted(const Message& message);
  bool omits_refused_turn(const Message& question);
  Piece assistant_piece(Message message);
  Piece user_piece(Message message);
  void add_call(Piece& piece, const ToolUseBlock& call, const Source& from);
  void add_opaque(Piece& piece, Block block, const Source& from);
  bool accepts(const Block& block, const Source& from) const;
  void add_image(Piece& piece, ImageBlock image);
  std::string sent_id(const ToolUseBlock& call, const Source& from);
  std::string mapped_id(std::string_view id, const Message& from);
  void end_answer(Message& answer);
  void queue_one_by_one(Message answer);
  std::vector<Block> results_of_open_calls();
  ToolResultBlock acceptable_result(ToolResultBlock result, const std::string& id);
  void read_result(ToolResultBlock& result);
  void seed_open_calls();

  const Provider& provider_;
  ViewOptions options_;
  HistoryReader reader_;
  RequestRepairs repairs_;
  std::optional<Piece> pushed_back_;
  std::deque<Message> queue_;           // to be sent before anything else is read
  std::vector<Block> carried_results_;  // they begin the next message
  OpenCalls open_calls_;
  std::unordered_set<std::size_t> ids_;       // hashes of the mapped call ids sent so far
  std::map<std::string, std::string> names_;  // of calls that are sent as text, by id
  SentParts sent_;
  bool is_this_turn_ = false;
  bool first_ = true;
};

}  // namespace reprise
