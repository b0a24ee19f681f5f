// Reads responses of Anthropic's Messages API.

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "base/json_scan.h"
#include "base/json_view.h"
#include "base/text.h"
#include "provider/codec.h"
#include "provider/refusal.h"
#include "provider/request_parts.h"

namespace reprise::provider {
namespace anthropic {
namespace {

// The ends that servers report. Anything else means that the answer was cut.
struct End {
  std::string_view word;
  StopReason reason;
};
constexpr End kEnds[] = {
    {"end_turn", StopReason::end},
    {"stop_sequence", StopReason::end},
    {"stop", StopReason::end},
    {"compaction", StopReason::paused},
    {"tool_use", StopReason::tool_use},
    {"max_tokens", StopReason::max_tokens},
    {"model_context_window_exceeded", StopReason::max_tokens},
    {"length", StopReason::max_tokens},
    {"pause_turn", StopReason::paused},
    {"refusal", StopReason::refused},
};

StopReason reason_of(std::string_view stop, bool used_tools) {
  const auto* const end = std::ranges::find(kEnds, stop, &End::word);
  if (end == std::end(kEnds)) {
    return StopReason::other;
  }
  return used_tools && end->reason == StopReason::end ? StopReason::tool_use : end->reason;
}

// What is read of a call; anything else is kept for the server that sent it.
constexpr std::string_view kCallMembers[] = {"type", "id", "name", "input", "cache_control"};

class AnthropicReader final : public ReplyReader {
 public:
  explicit AnthropicReader(ReplyWriter& out) : out_(out) {}

  Result<> event(std::string_view name, std::string_view data) override {
    const JsonView json(data);
    REPRISE_ASSIGN(const std::string type, type_of_event(name, data));
    if (type == "message_start") {
      // Some gateways send it twice.
      const bool is_same = json["message"]["id"].text() == out_.response_id() && !has_blocks_;
      if (std::exchange(started_, true) && !is_same) {
        return second_answer();
      }
      begin(json["message"]);
    } else if (type == "content_block_start") {
      return begin_block(json["index"].count(), json["content_block"]);
    } else if (type == "content_block_delta") {
      read_delta(json["index"].count(), json["delta"]);
    } else if (type == "content_block_stop") {
      end_block(json["index"].count());
    } else if (type == "message_delta") {
      read_usage(json["usage"]);
      read_stop_reason(json["delta"]["stop_reason"]);
    } else if (type == "message_stop") {
      done_ = true;
    }
    return {};
  }

  Result<> whole(std::string_view json) override {
    const JsonView message(json);
    if (const JsonView error = message["error"]; error) {
      return std::unexpected(error_of_object(error));
    }
    begin(message);
    std::int64_t index = 0;
    message["content"].each([&](JsonView block) {
      (void)begin_block(index, block);  // each index is new
      end_block(index++);
    });
    read_stop_reason(message["stop_reason"]);
    done_ = message["content"].is(json::Kind::array);
    return {};
  }

  bool complete() const override { return done_ || stopped_; }
  bool done() const override { return done_; }
  std::int64_t bytes_buffered() const override {
    return static_cast<std::int64_t>(signature_.size() + input_.size() + raw_.size() +
                                     raw_input_.size() + citations_.size()) +
           raw_members_bytes_;
  }

  void finish(std::string_view request_id) override {
    out_.end_blocks();
    if (!citations_.empty()) {
      out_.text_members(cat(R"({"citations":[)", citations_, "]}"));
    }
    usage_.request_id = request_id_of(out_.response_id(), request_id);
    usage_.input.value = uncached_ + usage_.cached.value + usage_.cache_written.value;
    usage_.input += compaction_.input;
    usage_.output += compaction_.output;
    out_.usage(usage_);
    // A whole answer without a reason is complete: the protocol's end has arrived.
    const std::string_view good = out_.is_whole() ? "end_turn" : "";
    const StopReason reason =
        reason_of(stop_reason_.empty() ? good : std::string_view(stop_reason_), out_.used_tools());
    const bool has_word = reason == StopReason::other || reason == StopReason::refused;
    out_.ended(reason, has_word ? std::string_view(stop_reason_) : std::string_view());
  }

 private:
  enum class Kind : std::uint8_t { none, text, thinking, tool, raw };

  void begin(JsonView message) {
    out_.started(message["id"].text(), message["model"].text());
    read_usage(message["usage"]);
  }

  // Later reports override earlier ones, and may omit counts.
  void read_usage(JsonView usage) {
    const auto read = [usage](std::string_view name, std::int64_t& count) {
      if (const JsonView value = usage[name]; value) {
        count = token_count(value);
      }
    };
    read("input_tokens", uncached_);
    read("output_tokens", usage_.output.value);
    read("cache_read_input_tokens", usage_.cached.value);
    read("cache_creation_input_tokens", usage_.cache_written.value);
    if (const JsonView iterations = usage["iterations"]; iterations) {
      compaction_ = {};
      iterations.each([this](JsonView iteration) { read_iteration(iteration); });
    }
    if (const JsonView details = usage["output_tokens_details"]; details) {
      usage_.reasoning.value = token_count(details["thinking_tokens"]);
    }
  }

  // The other counts do not have what a compaction of the history took.
  void read_iteration(JsonView iteration) {
    if (iteration["type"].text() != "compaction") {
      return;
    }
    for (const std::string_view name :
         {"input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"}) {
      compaction_.input.value += token_count(iteration[name]);
    }
    compaction_.output.value += token_count(iteration["output_tokens"]);
  }

  void read_stop_reason(JsonView reason) {
    if (reason) {
      stopped_ = true;
      stop_reason_ = reason.text();
    }
  }

  // The block of a whole response contains its content; in a stream it is still empty.
  Result<> begin_block(std::int64_t index, JsonView block) {
    const std::string type = block["type"].text();
    has_blocks_ = true;
    if (type == "text") {
      kind_ = Kind::text;
      out_.text(block["text"].raw());
      block["citations"].each([this](JsonView citation) { add_citation(citation); });
    } else if (type == "thinking") {
      kind_ = Kind::thinking;
      out_.thinking(block["thinking"].raw());
      signature_ = block["signature"].text();
    } else if (type == "tool_use") {
      if (!calls_.insert(index).second) {
        return second_answer();
      }
      kind_ = Kind::tool;
      out_.tool(index, block["id"].text(), block["name"].text());
      if (const std::string members = unknown_members(block, kCallMembers); !members.empty()) {
        out_.tool_members(index, members);
      }
      input_ = block["input"].raw();
    } else {
      kind_ = Kind::raw;
      raw_ = block.raw();
      raw_input_.clear();
    }
    return {};
  }

  void read_delta(std::int64_t index, JsonView delta) {
    const std::string type = delta["type"].text();
    if (type == "text_delta") {
      out_.text(delta["text"].raw());
    } else if (type == "thinking_delta") {
      out_.thinking(delta["thinking"].raw());
    } else if (type == "citations_delta") {
      add_citation(delta["citation"]);
    } else if (type == "signature_delta") {
      signature_ += delta["signature"].text();
    } else if (type == "input_json_delta") {
      if (kind_ == Kind::raw) {
        raw_input_ += delta["partial_json"].text();
      } else {
        out_.tool_input(index, delta["partial_json"].raw());
      }
    } else if (kind_ == Kind::raw) {
      add_to_raw(delta);
    }
  }

  // Other deltas bring members of the block: their texts grow.
  void add_to_raw(JsonView delta) {
    delta.each_member([this](std::string_view name, JsonView value) {
      if (name == "type") {
        return;
      }
      const auto [member, is_new] = raw_members_.try_emplace(std::string(name));
      const JsonView before = is_new ? JsonView(raw_)[name] : JsonView(member->second);
      const std::size_t size = member->second.size();
      if (!before.is(json::Kind::string) || !value.is(json::Kind::string)) {
        member->second = value.raw();
      } else if (is_new) {
        member->second = json::quoted(cat(before.text(), value.text()));
      } else {  // both are quoted
        member->second.pop_back();
        member->second += value.raw().substr(1);
      }
      raw_members_bytes_ +=
          static_cast<std::int64_t>(member->second.size()) - static_cast<std::int64_t>(size);
    });
  }

  std::string take_raw() {
    std::string added;
    json::ObjectWriter object(added);
    for (const auto& [name, value] : std::exchange(raw_members_, {})) {
      object.raw(name, value);
    }
    object.close();
    raw_members_bytes_ = 0;
    const std::string block = std::exchange(raw_, {});
    return with_input(added == "{}" ? block : merged_json(block, added),
                      std::exchange(raw_input_, {}));
  }

  void add_citation(JsonView citation) {
    if (citation) {
      citations_ += cat(citations_.empty() ? "" : ",", citation.raw());
    }
  }

  void end_block(std::int64_t index) {
    switch (std::exchange(kind_, Kind::none)) {
      case Kind::thinking:
        out_.signature(std::exchange(signature_, {}));
        break;
      case Kind::tool:
        if (!input_.empty() && input_ != "{}") {
          out_.tool_input_object(index, std::exchange(input_, {}));
        }
        out_.tool_end(index);
        break;
      case Kind::raw:
        out_.raw_block(take_raw());
        break;
      case Kind::text:
      case Kind::none:
        break;
    }
  }

  // A block of another type whose input was streamed (a tool run by the provider).
  static std::string with_input(std::string_view block, std::string_view input) {
    if (!is_json_object(input) || !is_json_object(block)) {
      return std::string(block);
    }
    std::string out;
    json::ObjectWriter object(out);
    JsonView(block).each_member([&](std::string_view name, JsonView value) {
      object.raw(name, name == "input" ? input : value.raw());
    });
    object.close();
    return out;
  }

  ReplyWriter& out_;
  Kind kind_ = Kind::none;
  std::string signature_;
  std::string input_;
  std::string raw_;
  std::string raw_input_;
  std::map<std::string, std::string> raw_members_;  // that deltas brought: raw JSON
  std::int64_t raw_members_bytes_ = 0;
  std::string citations_;  // of all texts
  Usage usage_;
  Usage compaction_;
  std::int64_t uncached_ = 0;  // input tokens not from the cache
  std::string stop_reason_;
  std::set<std::int64_t> calls_;  // indexes of tool calls
  bool started_ = false;
  bool has_blocks_ = false;
  bool stopped_ = false;
  bool done_ = false;
};

}  // namespace
}  // namespace anthropic

std::unique_ptr<ReplyReader> make_anthropic_reader(ReplyWriter& out) {
  return std::make_unique<anthropic::AnthropicReader>(out);
}

}  // namespace reprise::provider
