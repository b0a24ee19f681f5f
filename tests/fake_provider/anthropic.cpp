#include "fake_provider/anthropic.h"

#include <memory>

#include "base/json_write.h"
#include "base/text.h"
#include "fake_provider/answer.h"
#include "fake_provider/http.h"
#include "fake_provider/json_value.h"
#include "fake_provider/protocol.h"

namespace reprise::fake {
namespace anthropic {
namespace {

std::string_view error_type(int status) {
  switch (status) {
    case 401:
      return "authentication_error";
    case 404:
      return "not_found_error";
    case 429:
      return "rate_limit_error";
    case 529:
      return "overloaded_error";
    default:
      return status >= 500 ? "api_error" : "invalid_request_error";
  }
}

std::string_view stop_reason(const Answer& answer) {
  if (!answer.search.empty()) {
    return "pause_turn";
  }
  return answer.calls.empty() ? "end_turn" : "tool_use";
}

std::string usage_json(const Answer& answer, std::int64_t output_tokens) {
  std::string out;
  json::ObjectWriter usage(out);
  usage.field("input_tokens", answer.input_tokens - answer.cache_written_tokens)
      .field("cache_creation_input_tokens", answer.cache_written_tokens)
      .field("cache_read_input_tokens", 0)
      .field("output_tokens", output_tokens)
      .close();
  return out;
}

std::string text_block_json(std::string_view text) {
  return cat(R"({"type":"text","text":)", json::quoted(text), "}");
}

std::string thinking_json(std::string_view text, std::string_view signature) {
  return cat(R"({"type":"thinking","thinking":)", json::quoted(text), R"(,"signature":)",
             json::quoted(signature), "}");
}

std::string call_json(const Call& call, std::string_view input) {
  std::string out;
  json::ObjectWriter object(out);
  object.field("type", "tool_use")
      .field("id", call.id)
      .field("name", call.name)
      .raw("input", input)
      .close();
  return out;
}

std::string found_json(std::string_view search) {
  return cat(R"({"type":"web_search_tool_result","tool_use_id":)", json::quoted(search),
             R"(,"content":[]})");
}

std::string search_json(std::string_view search) {
  return cat(R"({"type":"server_tool_use","id":)", json::quoted(search),
             R"(,"name":"web_search","input":{}})");
}

std::string content_json(const Answer& answer) {
  std::string out;
  json::ArrayWriter content(out);
  for (const std::string& search : answer.found) {
    content.item();
    out += found_json(search);
  }
  if (!answer.thinking.empty()) {
    content.item();
    out += thinking_json(answer.thinking, answer.signature);
  }
  if (!answer.text.empty()) {
    content.item();
    out += text_block_json(answer.text);
  }
  for (const Call& call : answer.calls) {
    content.item();
    out += call_json(call, parse_value(call.input) ? call.input : "{}");
  }
  if (!answer.search.empty()) {
    content.item();
    out += search_json(answer.search);
  }
  content.close();
  return out;
}

std::string message_json(const Answer& answer, bool begins) {
  std::string out;
  json::ObjectWriter object(out);
  object.field("id", answer.id)
      .field("type", "message")
      .field("role", "assistant")
      .field("model", answer.model)
      .raw("content", begins ? "[]" : content_json(answer));
  if (begins) {
    object.null("stop_reason");
  } else {
    object.field("stop_reason", stop_reason(answer));
  }
  object.null("stop_sequence")
      .raw("usage", usage_json(answer, begins ? 1 : answer.output_tokens))
      .close();
  return out;
}

// Builds the events of one streamed message.
class EventList {
 public:
  explicit EventList(const Answer& answer) : answer_(answer) {}

  std::vector<SseEvent> build() && {
    add("message_start", cat(R"("message":)", message_json(answer_, true)));
    for (const std::string& search : answer_.found) {
      begin(found_json(search));
      end();
    }
    if (!answer_.thinking.empty()) {
      begin(thinking_json("", ""));
      deltas(answer_.thinking, "thinking_delta", "thinking");
      delta("signature_delta", "signature", answer_.signature);
      end();
    }
    add("ping", "");
    if (!answer_.text.empty()) {
      begin(text_block_json(""));
      deltas(answer_.text, "text_delta", "text");
      end();
    }
    for (const Call& call : answer_.calls) {
      begin(call_json(call, "{}"));
      delta("input_json_delta", "partial_json", "");
      deltas(call.input, "input_json_delta", "partial_json");
      end();
    }
    if (!answer_.search.empty()) {
      begin(search_json(answer_.search));
      delta("input_json_delta", "partial_json", R"({"query":"x"})");
      end();
    }
    add("message_delta",
        cat(R"("delta":{"stop_reason":")", stop_reason(answer_),
            R"(","stop_sequence":null},"usage":{"output_tokens":)", answer_.output_tokens, "}"));
    out_.back().is_end = true;
    add("message_stop", "");
    out_.back().is_end = true;
    return std::move(out_);
  }

 private:
  void add(std::string_view type, std::string_view fields) {
    out_.push_back({std::string(type),
                    cat(R"({"type":")", type, "\"", fields.empty() ? "" : ",", fields, "}")});
  }
  void begin(std::string_view block) {
    add("content_block_start", cat(R"("index":)", index_, R"(,"content_block":)", block));
  }
  void delta(std::string_view type, std::string_view field, std::string_view text) {
    add("content_block_delta", cat(R"("index":)", index_, R"(,"delta":{"type":")", type, R"(",")",
                                   field, R"(":)", json::quoted(text), "}"));
  }
  void deltas(std::string_view text, std::string_view type, std::string_view field) {
    for (const std::string& piece : pieces(text, answer_.piece_characters)) {
      delta(type, field, piece);
      out_.back().is_delta = true;
    }
  }
  void end() { add("content_block_stop", cat(R"("index":)", index_++)); }

  const Answer& answer_;
  std::vector<SseEvent> out_;
  int index_ = 0;
};

class Anthropic final : public Protocol {
 public:
  explicit Anthropic(std::uint64_t seed) : seed_(seed) {}

  std::string_view path() const override { return "/v1/messages"; }
  std::string_view id_prefix() const override { return "msg_"; }
  std::string_view call_prefix() const override { return "toolu_"; }
  std::string_view request_id_header() const override { return "request-id"; }
  bool key_is_bearer() const override { return false; }

  Result<> check_headers(const HttpRequest& request) override {
    if (request.header("anthropic-version").empty()) {
      return refuse("anthropic-version: header is required");
    }
    return {};
  }
  Result<Turn> check(const Value& body) override { return anthropic::check(body, seed_); }

  std::string plain(const Answer& answer) const override { return message_json(answer, false); }
  std::vector<SseEvent> events(const Answer& answer) const override {
    return EventList(answer).build();
  }

  std::string error_body(const Problem& problem) const override {
    return cat(R"({"type":"error","error":{"type":")", error_type(problem.status),
               R"(","message":)", json::quoted(problem.message), "}}");
  }
  Problem no_such_model(std::string_view model) const override {
    return {404, cat("model: ", model), ""};
  }
  Problem no_such_parameter(std::string_view name) const override {
    return {400, cat("`", name, "` is deprecated for this model."), ""};
  }
  SseEvent error_event(const Problem& problem) const override {
    return {"error", error_body(problem)};
  }

 private:
  std::uint64_t seed_;
};

}  // namespace
}  // namespace anthropic

std::unique_ptr<Protocol> make_anthropic(std::uint64_t seed) {
  return std::make_unique<anthropic::Anthropic>(seed);
}

}  // namespace reprise::fake
