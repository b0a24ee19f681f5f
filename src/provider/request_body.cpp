#include "provider/request_body.h"

#include <algorithm>
#include <variant>

#include "base/json_scan.h"
#include "base/text.h"
#include "provider/body_changes.h"
#include "provider/codec.h"

namespace reprise::provider {
namespace {

constexpr std::size_t kCacheKeyBytesMax = 64;  // OpenAI's limit

// Servers reject a tool choice without tools, even "none".
Result<> fit_tool_choice(RequestOptions& options, const Request& request, const RawJson& extra) {
  if (!request.tools.empty() || !json::find_member(extra.text(), "tools").empty()) {
    return {};
  }
  const std::string choice = std::exchange(options.tool_choice, {});
  if (choice.empty() || choice == "auto" || choice == "none") {
    return {};
  }
  return fail(Code::invalid_argument,
              cat("tool_choice is ", choice, ", but the request offers no tools"));
}

// Routes requests of a conversation to the machine that has its cache.
void add_cache_key(RequestOptions& options, const Codec& codec, const Request& request) {
  if (options.prompt_cache.value_or(false) && options.prompt_cache_key.empty() &&
      supports_option(codec.option_encodings(), "prompt_cache_key") &&
      request.conversation.size() <= kCacheKeyBytesMax) {
    options.prompt_cache_key = request.conversation;
  }
}

void copy_option(RequestOptions& to, const RequestOptions& from, const RequestOption& option) {
  if (auto value = option.slot.get(from)) {
    option.slot.set(to, *std::move(value));
  }
}

}  // namespace

Result<std::string> body_head(const Codec& codec, const Request& request, const RawJson& extra,
                              const BodyChanges& changes) {
  std::string head;
  codec.begin_body(head, request);
  RequestOptions options = request.options;
  REPRISE_TRY(fit_tool_choice(options, request, extra));
  add_cache_key(options, codec, request);
  REPRISE_ASSIGN(const std::string encoded,
                 encode_options(options, codec.name(), codec.option_encodings()));
  head = merged_json(head, encoded);
  return changed_head(extra.is_null() ? head : merged_json(head, extra.text()), changes);
}

std::set<std::string, std::less<>> given_parameters(const Codec& codec, const Request& request) {
  RequestOptions given;
  std::set<std::string, std::less<>> out;
  for (const std::string& name : request.given) {
    if (const RequestOption* const option = find_request_option(name); option != nullptr) {
      copy_option(given, request.options, *option);
    } else if (name == "max_tokens") {
      out.insert({"max_tokens", "max_completion_tokens", "max_output_tokens"});
    } else {
      out.insert(name);
    }
  }
  if (const auto encoded = encode_options(given, codec.name(), codec.option_encodings()); encoded) {
    // A given part of a parameter ("reasoning.effort") does not make the other parts given.
    for (std::string& name : parameters_of(*encoded)) {
      const auto inner = out.lower_bound(cat(name, "."));
      if (inner == out.end() || !inner->starts_with(cat(name, "."))) {
        out.insert(std::move(name));
      }
    }
  }
  return out;
}

Result<std::string> render_body(const Codec& codec, Request& request, const RawJson& extra,
                                const BodyChanges& changes) {
  StreamedBody body(codec, request, extra, changes);
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
  REPRISE_TRY(fill_buffer());
  offset_ = buffer_.size();
  return buffer_;
}

Result<> StreamedBody::fill_buffer() {
  buffer_.clear();
  offset_ = 0;
  while (buffer_.empty() && next_ != Next::nothing) {
    if (next_ == Next::begin) {
      REPRISE_TRY(begin());
    } else if (next_message_) {
      REPRISE_TRY(add_next_message());
    } else {
      end();
    }
  }
  return {};
}

Result<> StreamedBody::begin() {
  REPRISE_ASSIGN(std::string head, body_head(codec_, request_, extra_, changes_));
  for (const auto& [name, value] : members_of(head)) {
    members_.insert(name);
  }
  head.pop_back();
  buffer_ = cat(head, members_.empty() ? "" : ",", json::quoted(codec_.messages_field()), ":");
  items_ = std::make_unique<json::ArrayWriter>(buffer_);
  codec_.begin_messages(*items_, buffer_, request_);
  REPRISE_ASSIGN(next_message_, request_.messages.next());
  next_ = Next::messages;
  return {};
}

Result<> StreamedBody::add_next_message() {
  Message message = std::exchange(next_message_, std::nullopt).value_or(Message());
  message.seq = Seq(++count_);
  REPRISE_ASSIGN(next_message_, request_.messages.next());
  record_calls(message);
  if (next_message_) {
    codec_.add_message(*items_, buffer_, message, request_.form);
  } else {
    codec_.add_last_message(*items_, buffer_, message, request_);
  }
  return {};
}

void StreamedBody::end() {
  items_->close();
  const std::string fields = codec_.end_fields(called_);
  for (const auto& [name, value] : members_of(fields)) {
    if (!members_.contains(name)) {
      buffer_ += cat(",", json::quoted(name), ":", value);
    }
  }
  buffer_ += '}';
  next_ = Next::nothing;
}

void StreamedBody::record_calls(const Message& message) {
  if (!request_.tools.empty()) {
    return;
  }
  for (const ToolUseBlock* const call : tool_calls(message)) {
    called_.insert(call->name);
  }
}

Result<std::size_t> StreamedBody::read(std::span<char> into) {
  std::size_t filled = 0;
  while (filled < into.size()) {
    if (offset_ == buffer_.size()) {
      REPRISE_TRY(fill_buffer());
      if (buffer_.empty()) {
        break;
      }
    }
    const std::size_t count = std::min(into.size() - filled, buffer_.size() - offset_);
    std::copy_n(buffer_.data() + offset_, count, into.data() + filled);
    offset_ += count;
    filled += count;
  }
  return filled;
}

Result<> StreamedBody::rewind() {
  next_ = Next::begin;
  buffer_.clear();
  offset_ = 0;
  next_message_.reset();
  members_.clear();
  called_.clear();
  count_ = 0;
  return request_.messages.rewind();
}

}  // namespace reprise::provider
