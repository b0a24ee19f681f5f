#include "provider/request_body.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/json_write.h"
#include "provider/codec.h"
#include "reprise/error.h"
#include "reprise/message.h"
#include "reprise/provider.h"

namespace reprise::provider {

Result<std::string> render_body(const Codec& codec, Request& request) {
  REPRISE_TRY(request.messages.rewind());
  std::string out;
  codec.begin_body(out, request);
  json::ArrayWriter items(out);
  codec.begin_messages(items, out, request);
  while (true) {
    REPRISE_ASSIGN(const std::optional<Message> message, request.messages.next());
    if (!message) {
      out += "]}";
      return out;
    }
    codec.add_message(items, out, *message);
  }
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
      codec_.add_message(*items_, made_, *message);
    } else {
      made_ += "]}";
      next_ = Next::nothing;
    }
  }
  return {};
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
  return request_.messages.rewind();
}

}  // namespace reprise::provider
