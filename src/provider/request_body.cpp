#include "provider/request_body.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "base/json_write.h"
#include "provider/codec.h"
#include "reprise/error.h"
#include "reprise/message.h"
#include "reprise/provider.h"

namespace reprise::provider {

Result<std::string> render_body(const Codec& codec, Request& request) {
  StreamedBody body(codec, request);
  REPRISE_TRY(body.rewind());
  std::string out;
  while (true) {
    REPRISE_ASSIGN(const std::string piece, body.next_piece());
    if (piece.empty()) {
      return out;
    }
    out += piece;
  }
}

Result<std::string> StreamedBody::next_piece() {
  REPRISE_TRY(make_more());
  taken_ = made_.size();
  return made_;
}

Result<> StreamedBody::make_more() {
  made_.clear();
  taken_ = 0;
  while (made_.empty() && next_ != Next::nothing) {
    if (next_ == Next::begin) {
      codec_.begin_body(made_, request_);
      items_ = std::make_unique<json::ArrayWriter>(made_);
      codec_.begin_messages(*items_, made_, request_);
      next_ = Next::messages;
      continue;
    }
    REPRISE_ASSIGN(const std::optional<Message> message, request_.messages.next());
    if (message) {
      note_calls(*message);
      codec_.add_message(*items_, made_, *message);
    } else {
      items_->close();
      codec_.end_body(made_, called_);
      next_ = Next::nothing;
    }
  }
  return {};
}

void StreamedBody::note_calls(const Message& message) {
  if (!request_.tools.empty()) {
    return;
  }
  for (const Block& block : message.blocks) {
    if (const auto* call = std::get_if<ToolUseBlock>(&block); call != nullptr) {
      called_.insert(call->name);
    }
  }
}

Result<std::size_t> StreamedBody::read(std::span<char> into) {
  std::size_t filled = 0;
  while (filled < into.size()) {
    if (taken_ == made_.size()) {
      REPRISE_TRY(make_more());
      if (made_.empty()) {
        break;
      }
    }
    const std::size_t count = std::min(into.size() - filled, made_.size() - taken_);
    std::copy_n(made_.data() + taken_, count, into.data() + filled);
    taken_ += count;
    filled += count;
  }
  return filled;
}

Result<> StreamedBody::rewind() {
  next_ = Next::begin;
  made_.clear();
  taken_ = 0;
  called_.clear();
  return request_.messages.rewind();
}

}  // namespace reprise::provider
