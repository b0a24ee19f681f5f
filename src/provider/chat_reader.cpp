#include <algorithm>
#include <map>

#include "base/json_scan.h"
#include "base/json_view.h"
#include "base/text.h"
#include "provider/codec.h"
#include "provider/refusal.h"
#include "provider/request_parts.h"

namespace reprise::provider {
namespace openai_chat {
namespace {

StopReason reason_of(std::string_view finish, bool used_tools) {
  if (finish == "length") {
    return StopReason::max_tokens;
  }
  if (finish == "content_filter") {
    return StopReason::refused;
  }
  // Some servers send "stop" after tool calls, too.
  if (used_tools || finish == "tool_calls" || finish == "function_call") {
    return StopReason::tool_use;
  }
  return finish == "stop" || finish.empty() ? StopReason::end : StopReason::other;
}

Usage usage_of(JsonView json) {
  Usage usage;
  usage.input.value = json["prompt_tokens"].count();
  usage.output.value = json["completion_tokens"].count();
  usage.reasoning.value = json["completion_tokens_details"]["reasoning_tokens"].count();
  usage.cached.value = json["prompt_tokens_details"]["cached_tokens"].count();
  usage.cache_written.value = json["prompt_tokens_details"]["cache_write_tokens"].count();
  if (usage.cached.value == 0) {
    usage.cached.value = json["prompt_cache_hit_tokens"].count();  // DeepSeek
  }
  read_cost(json, usage);
  return usage;
}

constexpr std::size_t kDetailFieldsMax = 64;  // of one object; real ones have fewer than ten

// Assembles reasoning_details: pieces with the same index and type form one object.
class Details {
 public:
  void add(JsonView piece) {
    const auto [index, type] = piece.members({"index", "type"});
    if (!piece.is(json::Kind::object)) {
      return;
    }
    const std::string key = cat(index.raw(), " ", type.raw());
    if (details_.empty() || details_.back().key != key) {
      bytes_ += kBlockBytes + static_cast<std::int64_t>(key.size());
      details_.push_back({key, {}});
    }
    piece.each_member(
        [&](std::string_view name, JsonView value) { merge(details_.back(), name, value.raw()); });
  }

  std::int64_t bytes() const { return bytes_; }

  // "" if there are none.
  std::string block(std::string_view host) const {
    if (details_.empty()) {
      return {};
    }
    std::string list;
    json::ArrayWriter array(list);
    for (const Detail& detail : details_) {
      array.item();
      json::ObjectWriter object(list);
      for (const auto& [name, value] : detail.fields) {
        object.raw(name, value);
      }
      object.close();
    }
    array.close();
    std::string out;
    json::ObjectWriter object(out);
    object.field("type", kReasoningDetails).raw(kReasoningDetails, list).close();
    return with_host(out, host);
  }

 private:
  struct Detail {
    std::string key;
    std::vector<std::pair<std::string, std::string>> fields;  // raw JSON
  };

  void merge(Detail& detail, std::string_view name, std::string_view value) {
    const auto existing = std::ranges::find(
        detail.fields, name, [](const auto& field) { return std::string_view(field.first); });
    const bool is_text = name == "text" || name == "summary" || name == "data";
    if (existing == detail.fields.end()) {
      if (detail.fields.size() < kDetailFieldsMax) {
        detail.fields.emplace_back(name, value);
        count(name.size() + value.size());
      }
    } else if (is_text && existing->second.starts_with('"') && value.starts_with('"')) {
      existing->second.pop_back();
      existing->second += value.substr(1);
      count(value.size());
    } else if (value != "null") {
      existing->second = value;
      count(value.size());
    }
  }

  void count(std::size_t bytes) { bytes_ += static_cast<std::int64_t>(bytes); }

  std::vector<Detail> details_;
  std::int64_t bytes_ = 0;  // received, and some overhead
};

class ChatReader final : public ReplyReader {
 public:
  ChatReader(ReplyWriter& out, std::string_view host) : out_(out), host_(host) {}

  Result<> event(std::string_view name, std::string_view data) override {
    if (trimmed(data) == "[DONE]") {
      done_ = true;
      return {};
    }
    if (!is_json_object(data)) {
      return fail(Code::io, "an event is not valid JSON");
    }
    return chunk(JsonView(data), name == "error");
  }

  Result<> whole(std::string_view json) override {
    REPRISE_TRY(chunk(JsonView(json), false));
    done_ = done_ || answered_;
    return {};
  }

  bool complete() const override { return done_ || finish_.has_value(); }
  bool done() const override { return done_; }
  std::int64_t bytes_buffered() const override { return details_.bytes(); }

  void finish(std::string_view request_id) override {
    end_thinking();
    if (const std::string block = details_.block(host_); !block.empty()) {
      out_.raw_block(block);
    }
    out_.end_blocks();
    if (usage_) {
      usage_->request_id = request_id_of(out_.response_id(), request_id);
      out_.usage(*usage_);
    }
    const StopReason reason = reason_of(finish_.value_or(""), out_.used_tools());
    out_.ended(refused_ && reason == StopReason::end ? StopReason::refused : reason);
  }

 private:
  // Reads a chunk of a stream or a whole response, which differ only in the name of the message.
  Result<> chunk(JsonView json, bool is_error) {
    const auto [error, id, model, usage, choices] =
        json.members({"error", "id", "model", "usage", "choices"});
    if (error) {
      return std::unexpected(error_of_object(error));
    }
    if (is_error) {
      return std::unexpected(error_of_object(json));
    }
    if (out_.response_id().empty() || out_.model().empty()) {
      out_.started(id.text(), model.text());
    }
    if (has_elements(choices) && is_of_another_answer(id.text())) {
      return second_answer();
    }
    if (usage) {
      usage_ = usage_of(usage);
    }
    bool first = true;
    choices.each([&](JsonView choice) {
      if (std::exchange(first, false)) {  // only one was requested
        read_choice(choice);
      }
    });
    return {};
  }

  // Some servers name each chunk anew; others do not change the id within an answer.
  bool is_of_another_answer(std::string_view id) {
    if (id.empty() || id == out_.response_id()) {
      chunks_named_ += id.empty() ? 0 : 1;
      return false;
    }
    return chunks_named_ > 1;
  }

  void read_choice(JsonView choice) {
    answered_ = true;
    const auto [delta, message, finish] = choice.members({"delta", "message", "finish_reason"});
    read_message(delta ? delta : message);
    if (std::string reason = finish.text(); !reason.empty()) {
      finish_ = std::move(reason);
    }
  }

  void read_message(JsonView message) {
    const auto [reasoning_content, reasoning, details, content, refusal, tool_calls] =
        message.members(
            {kReasoningContent, kReasoning, kReasoningDetails, "content", "refusal", "tool_calls"});
    const JsonView thinking = reasoning_content ? reasoning_content : reasoning;
    if (thinking.is(json::Kind::string) && thinking.raw() != R"("")") {
      thinking_in_ = reasoning_content ? kReasoningContent : kReasoning;
    }
    read_text(thinking, true);
    details.each([this](JsonView piece) { details_.add(piece); });
    if ((content && content.raw() != R"("")") || tool_calls) {
      end_thinking();
    }
    read_text(content, false);
    if (refusal && refusal.raw() != R"("")") {
      end_thinking();
      refused_ = true;
      out_.text(refusal.raw());
    }
    tool_calls.each([this](JsonView call) { read_call(call); });
  }

  void end_thinking() {
    if (const auto field = std::exchange(thinking_in_, {}); !field.empty()) {
      out_.signature(reasoning_signature(field, host_));
    }
  }

  // A string, or a list of parts, some of which are reasoning (Mistral).
  void read_text(JsonView text, bool is_thinking) {
    if (text.is(json::Kind::string)) {
      is_thinking ? out_.thinking(text.raw()) : out_.text(text.raw());
      return;
    }
    text.each([&](JsonView part) {
      const JsonView thinking = part["thinking"];
      read_text(thinking ? thinking : part["text"], is_thinking || thinking);
    });
  }

  void read_call(JsonView call) {
    const JsonView function = call["function"];
    const std::int64_t key = key_of(call);
    const JsonView arguments = function["arguments"];
    if (arguments.is(json::Kind::object)) {
      out_.tool_input_object(key, arguments.raw());
    } else {
      out_.tool_input(key, arguments.raw());
    }
  }

  // Calls have an index; some servers send none, or always 0 with distinct ids. A call without an
  // id is assigned one, since its result must refer to it.
  std::int64_t key_of(JsonView call) {
    const std::int64_t index = call["index"].count();
    const std::string id = call["id"].text();
    const std::string name = call["function"]["name"].text();
    const auto existing = calls_.find(index);
    const bool is_new = existing == calls_.end() || (!id.empty() && id != existing->second.id);
    const bool unnamed = id.empty() && !call["index"] && !name.empty();
    if (!is_new && !unnamed) {
      return existing->second.key;
    }
    const std::int64_t key = next_key_++;
    const std::string used = id.empty() ? cat("call_", key) : id;
    calls_.insert_or_assign(index, Call{key, used});
    out_.tool(key, used, name);
    return key;
  }

  struct Call {
    std::int64_t key;
    std::string id;
  };

  ReplyWriter& out_;
  std::string host_;
  std::string_view thinking_in_;  // the field of the current thinking block
  Details details_;
  std::map<std::int64_t, Call> calls_;  // by index: the last call that had it
  std::int64_t next_key_ = 0;
  std::optional<Usage> usage_;
  std::optional<std::string> finish_;
  int chunks_named_ = 0;  // with the answer's id
  bool answered_ = false;
  bool refused_ = false;
  bool done_ = false;
};

}  // namespace
}  // namespace openai_chat

std::string reasoning_signature(std::string_view field, std::string_view host) {
  return cat(field, "@", host);
}

std::unique_ptr<ReplyReader> make_chat_reader(ReplyWriter& out, std::string_view host) {
  return std::make_unique<openai_chat::ChatReader>(out, host);
}

}  // namespace reprise::provider
