#pragma once

// The messages that are sent to a provider: whatever the record contains, the provider accepts the
// request (P5).
//  (1) The roles user and assistant alternate, starting with user; no message is empty.
//  (2) Every tool call is directly followed by its result, wherever that is in the record; a call
//      without one gets an error result, a result without a call is left out.
//  (3) Thinking and raw blocks are sent only to the provider they came from, and blocks that are
//      bound to a model only to that model.
//  (4) Blobs are read back, up to a limit.
// The record is not changed. Memory is bounded by one message and the look-ahead of the reader.

#include <unordered_set>

#include "engine/history.h"
#include "engine/request_repairs.h"
#include "reprise/provider.h"

namespace reprise {

struct ViewOptions {
  HistorySlice slice;
  std::vector<std::string> open_calls = {};  // calls in messages that the provider already has
  std::int64_t bytes_estimate = 0;
  bool omits_images = false;             // replaced by a word, like PDFs
  std::vector<std::string> models = {};  // names under which the model has answered
};

class RequestView final : public RequestMessages {
 public:
  // `provider` must outlive the view.
  RequestView(const Provider& provider, ViewOptions options);

  Result<std::optional<Message>> next() override;
  Result<> rewind() override;
  std::int64_t bytes_estimate() const override { return options_.bytes_estimate; }
  bool has_images() const override { return !options_.omits_images && images_ + pdfs_ > 0; }

  // The repairs of the messages read since the last rewind().
  RequestRepairs repairs() const;
  const std::optional<Error>& fault() const { return reader_.fault(); }
  // Images that were sent or left out, not counting PDFs.
  std::int64_t images() const { return images_; }
  std::int64_t pdfs() const { return pdfs_; }

 private:
  struct Piece {
    bool assistant = false;
    bool incomplete = false;
    std::vector<Block> blocks = {};
    OpenCalls calls = {};
  };
  std::optional<Piece> next_piece();
  bool is_omitted(const Message& message);
  Piece assistant_piece(Message message);
  Piece user_piece(Message message);
  void add_call(Piece& piece, const ToolUseBlock& call);
  void add_thinking(Piece& piece, Block block, const Message& from);
  bool accepts(const Block& block, const Message& from) const;
  void add_image(Piece& piece, ImageBlock image);
  std::string acceptable_id(const std::string& id);
  std::vector<Block> results_of_open_calls();
  ToolResultBlock acceptable_result(ToolResultBlock result, const std::string& id);
  void seed_open_calls();

  const Provider& provider_;
  ViewOptions options_;
  HistoryReader reader_;
  RequestRepairs repairs_;
  std::optional<Piece> pushed_back_;
  OpenCalls open_calls_;
  std::unordered_set<std::size_t> ids_;  // hashes of the call ids sent so far
  std::int64_t images_ = 0;
  std::int64_t pdfs_ = 0;
  bool first_ = true;
};

}  // namespace reprise
