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

// The ends that servers report, in lower case. Anything else means that the answer was cut.
struct End {
  std::string_view word;
  StopReason reason;
};
constexpr End kEnds[] = {
    {"stop", StopReason::end},
    {"eos", StopReason::end},
    {"eos_token", StopReason::end},
    {"stop_sequence", StopReason::end},
    {"stop_token", StopReason::end},
    {"end_turn", StopReason::end},
    {"complete", StopReason::end},
    {"completed", StopReason::end},
    {"done", StopReason::end},
    {"end", StopReason::end},
    {"finished", StopReason::end},
    {"normal", StopReason::end},
    {"tool_calls", StopReason::tool_use},
    {"tool_call", StopReason::tool_use},
    {"tool_use", StopReason::tool_use},
    {"function_call", StopReason::tool_use},
    {"length", StopReason::max_tokens},
    {"max_tokens", StopReason::max_tokens},
    {"max_output_tokens", StopReason::max_tokens},
    {"content_filter", StopReason::refused},
    {"content_filtered", StopReason::refused},
    {"refusal", StopReason::refused},
    {"safety", StopReason::refused},
    {"sensitive", StopReason::refused},
};

// Some servers send "stop" after tool calls, too.
StopReason reason_of(std::string_view finish, bool used_tools) {
  const auto* const end = std::ranges::find(kEnds, ascii_lower(finish), &End::word);
  if (end == std::end(kEnds)) {
    return StopReason::other;
  }
  return used_tools && end->reason == StopReason::end ? StopReason::tool_use : end->reason;
}

// Some servers count the reasoning beside the completion, as their total shows.
Usage usage_of(JsonView json) {
  Usage usage;
  usage.input.value = token_count(json["prompt_tokens"]);
  usage.output.value = token_count(json["completion_tokens"]);
  usage.reasoning.value = token_count(json["completion_tokens_details"]["reasoning_tokens"]);
  const TokenCount with_reasoning = usage.output + usage.reasoning;
  if (token_count(json["total_tokens"]) == (usage.input + with_reasoning).value) {
    usage.output = with_reasoning;
  }
  usage.cached.value = token_count(json["prompt_tokens_details"]["cached_tokens"]);
  usage.cache_written.value = token_count(json["prompt_tokens_details"]["cache_write_tokens"]);
  if (usage.cached.value == 0) {
    usage.cached.value = token_count(json["prompt_cache_hit_tokens"]);  // DeepSeek
  }
  if (usage.cached.value == 0) {
    usage.cached.value = token_count(json["cached_tokens"]);  // Kimi
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
  std::string block() const {
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
    return out;
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

// Members of an answer beside those that are read, joined over its pieces: lists grow, everything
// else is replaced.
class Members {
 public:
  void add(std::string_view name, JsonView value) {
    if (!has_value(value)) {
      return;
    }
    std::string& all = member(name);
    const std::size_t before = all.size();
    if (value.is(json::Kind::array) && all.starts_with('[') && all != value.raw()) {
      all.back() = ',';
      all += value.raw().substr(1);
    } else {
      all = value.raw();
    }
    count(all.size(), before);
  }
  // The last value, since these lists are sent whole with each piece.
  void replace(std::string_view name, JsonView value) {
    if (has_elements(value)) {
      std::string& all = member(name);
      const std::size_t before = all.size();
      all = value.raw();
      count(all.size(), before);
    }
  }
  void write(json::ObjectWriter& object) const {
    for (const auto& [name, value] : members_) {
      object.raw(name, value);
    }
  }
  bool empty() const { return members_.empty(); }
  std::int64_t bytes() const { return bytes_; }

 private:
  std::string& member(std::string_view name) {
    const auto [entry, is_new] = members_.try_emplace(std::string(name));
    count(is_new ? kBlockBytes : 0, 0);
    return entry->second;
  }
  void count(std::size_t bytes, std::size_t before) {
    bytes_ += static_cast<std::int64_t>(bytes) - static_cast<std::int64_t>(before);
  }

  std::map<std::string, std::string> members_;  // raw JSON
  std::int64_t bytes_ = 0;
};

// What is read of a message and of a call, or belongs to its chunk ("index" at Mistral and Google,
// "channel" at Groq); anything else is kept for the server that sent it.
constexpr std::string_view kMessageMembers[] = {
    "role",          "content",     "refusal",         "tool_calls",
    "function_call", "annotations", kReasoningContent, kReasoning,
    "name",          "prefix",      "tool_call_id",    kReasoningDetails,
    "audio",         "images",      "parsed",          "provider_specific_fields",
    "index",         "channel"};
constexpr std::string_view kCallMembers[] = {"index", "id", "type", "function"};

class ChatReader final : public ReplyReader {
 public:
  ChatReader(ReplyWriter& out, std::string_view host) : out_(out), host_(host) {}

  Result<> event(std::string_view name, std::string_view data) override {
    if (trimmed(data) == "[DONE]") {
      done_ = true;
      return {};
    }
    if (!is_json_object(data)) {
      return not_json(name, data);
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
  std::int64_t bytes_buffered() const override {
    return details_.bytes() + members_.bytes() + sources_.bytes();
  }

  void finish(std::string_view request_id) override {
    end_thinking();
    if (const std::string block = details_.block(); !block.empty()) {
      out_.raw_block(block);
    }
    if (!members_.empty()) {
      out_.raw_block(written(members_, kMessageMembersType));
    }
    out_.end_blocks();
    if (!sources_.empty()) {
      out_.text_members(written(sources_, {}));
    }
    if (usage_) {
      usage_->request_id = request_id_of(out_.response_id(), request_id);
      out_.usage(*usage_);
    }
    end();
  }

 private:
  static std::string written(const Members& members, std::string_view type) {
    std::string out;
    json::ObjectWriter object(out);
    if (!type.empty()) {
      object.field("type", type);
    }
    members.write(object);
    object.close();
    return out;
  }

  // An answer without a reason is complete if it is whole: the protocol's end has arrived.
  void end() {
    const std::string finish = finish_.value_or("");
    if (finish.empty()) {
      const StopReason good = out_.used_tools() ? StopReason::tool_use : StopReason::end;
      const StopReason reason = out_.is_whole() ? good : StopReason::other;
      out_.ended(refused_ && reason == StopReason::end ? StopReason::refused : reason);
      return;
    }
    const StopReason reason = reason_of(finish, out_.used_tools());
    const bool is_in_words = refused_ && reason == StopReason::end;
    const bool has_word = reason == StopReason::other || reason == StopReason::refused;
    out_.ended(is_in_words ? StopReason::refused : reason, has_word ? finish : "");
  }

  // Reads a chunk of a stream or a whole response, which differ only in the name of the message.
  Result<> chunk(JsonView json, bool is_error) {
    const auto [error, id, model, usage, choices, citations, results] =
        json.members({"error", "id", "model", "usage", "choices", "citations", "search_results"});
    if (error) {
      return std::unexpected(error_of_object(error));
    }
    if (is_error || (!choices && !usage && is_error_text(json))) {
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
    sources_.replace("citations", citations);
    sources_.replace("search_results", results);
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
    const auto [reasoning_content, reasoning, details, content, refusal, tool_calls, annotations,
                function_call] =
        message.members({kReasoningContent, kReasoning, kReasoningDetails, "content", "refusal",
                         "tool_calls", "annotations", "function_call"});
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
    if (has_elements(annotations)) {
      sources_.add("annotations", annotations);
    }
    tool_calls.each([this](JsonView call) { read_call(call); });
    if (function_call) {  // the older form of a call
      read_function(0, function_call);
    }
    message.each_member([this](std::string_view name, JsonView value) {
      if (std::ranges::find(kMessageMembers, name) == std::end(kMessageMembers) &&
          has_value(value)) {
        members_.add(name, value);
      }
    });
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
    const std::int64_t key = key_of(call);
    if (const std::string members = unknown_members(call, kCallMembers); !members.empty()) {
      out_.tool_members(key, members);
    }
    read_function(key, call["function"]);
  }

  void read_function(std::int64_t key, JsonView function) {
    out_.tool(key, "", function["name"].text());
    const JsonView arguments = function["arguments"];
    if (arguments.is(json::Kind::object)) {
      out_.tool_input_object(key, arguments.raw());
    } else {
      out_.tool_input(key, arguments.raw());
    }
  }

  // Calls have an index; some servers send none, or always 0 with distinct ids. Google begins a
  // call with another index than that of its arguments.
  std::int64_t key_of(JsonView call) {
    const std::int64_t index = call["index"].count();
    const std::string id = call["id"].text();
    const std::string name = call["function"]["name"].text();
    const auto existing = calls_.find(index);
    const bool is_other = existing != calls_.end() && !id.empty() && !existing->second.id.empty() &&
                          id != existing->second.id;
    const bool is_unnumbered = id.empty() && !call["index"] && !name.empty() &&
                               existing != calls_.end() && existing->second.is_named;
    if (existing == calls_.end() || is_other || is_unnumbered) {
      const auto begun = std::ranges::find_if(calls_, [&](const auto& other) {
        const auto& [at, begun_call] = other;
        return at != index && !id.empty() && begun_call.id == id && begun_call.is_empty;
      });
      calls_.insert_or_assign(index, begun == calls_.end() ? Call{next_key_++} : begun->second);
    }
    Call& known = calls_.at(index);
    known.is_empty = known.is_empty && !has_value(call["function"]["arguments"]);
    known.is_named = known.is_named || !name.empty();
    if (known.id.empty()) {
      known.id = id;
    }
    out_.tool(known.key, id, "");
    return known.key;
  }

  struct Call {
    std::int64_t key;
    std::string id = {};
    bool is_named = false;
    bool is_empty = true;  // no arguments have come
  };

  ReplyWriter& out_;
  std::string host_;
  std::string_view thinking_in_;  // the field of the current thinking block
  Details details_;
  Members members_;                     // of the message, to be sent back
  Members sources_;                     // of the text
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
