#include "fake_provider/openai_chat.h"

#include <memory>

#include "base/json_write.h"
#include "base/text.h"
#include "fake_provider/answer.h"
#include "fake_provider/json_value.h"
#include "fake_provider/protocol.h"

namespace reprise::fake {
namespace openai_chat {
namespace {

std::string usage_json(const Answer& answer) {
  std::string details;
  json::ObjectWriter reasoning(details);
  reasoning.field("reasoning_tokens", answer.thinking_tokens).close();
  std::string out;
  json::ObjectWriter usage(out);
  usage.field("prompt_tokens", answer.input_tokens)
      .field("completion_tokens", answer.output_tokens)
      .field("total_tokens", answer.input_tokens + answer.output_tokens)
      .raw("prompt_tokens_details", R"({"cached_tokens":0})")
      .raw("completion_tokens_details", details)
      .close();
  return out;
}

std::string_view finish_reason(const Answer& answer) {
  if (!answer.ends.empty()) {
    return answer.ends;
  }
  return answer.calls.empty() ? "stop" : "tool_calls";
}

std::string call_json(const Call& call, int index, bool stream) {
  std::string function;
  json::ObjectWriter inner(function);
  inner.field("name", call.name).field("arguments", stream ? "" : std::string_view(call.input));
  inner.close();
  std::string out;
  json::ObjectWriter object(out);
  if (stream) {
    object.field("index", index);
  }
  object.field("id", call.id).field("type", "function").raw("function", function).close();
  return out;
}

class OpenaiChat final : public Protocol {
 public:
  std::string_view path() const override { return "/v1/chat/completions"; }
  std::string_view id_prefix() const override { return "chatcmpl-"; }
  std::string_view call_prefix() const override { return "call_"; }

  Result<Turn> check(const Value& body) override { return openai_chat::check(body); }

  std::string plain(const Answer& answer) const override {
    std::string message;
    json::ObjectWriter inner(message);
    inner.field("role", "assistant");
    if (answer.text.empty()) {
      inner.null("content");
    } else {
      inner.field("content", answer.text);
    }
    if (!answer.thinking.empty()) {
      inner.field("reasoning_content", answer.thinking);
    }
    if (!answer.calls.empty()) {
      std::string calls;
      json::ArrayWriter array_of_calls(calls);
      for (const Call& call : answer.calls) {
        array_of_calls.item();
        calls += call_json(call, 0, false);
      }
      array_of_calls.close();
      inner.raw("tool_calls", calls);
    }
    inner.close();
    std::string choice;
    json::ObjectWriter choice_object(choice);
    choice_object.field("index", 0)
        .raw("message", message)
        .field("finish_reason", finish_reason(answer))
        .close();
    return document(answer, "chat.completion", cat("[", choice, "]"), usage_json(answer));
  }

  std::vector<SseEvent> events(const Answer& answer) const override {
    std::vector<SseEvent> out;
    const auto add = [&](std::string_view delta, bool is_delta) {
      out.push_back({"", chunk(answer, delta, ""), is_delta});
    };
    const auto add_text = [&](std::string_view field, const std::string& text) {
      for (const std::string& piece : pieces(text, answer.piece_characters)) {
        add(cat("{", json::quoted(field), ":", json::quoted(piece), "}"), true);
      }
    };
    add(R"({"role":"assistant","content":""})", false);
    add_text("reasoning_content", answer.thinking);
    add_text("content", answer.text);
    int index = 0;
    for (const Call& call : answer.calls) {
      add(cat(R"({"tool_calls":[)", call_json(call, index, true), "]}"), false);
      for (const std::string& piece : pieces(call.input, answer.piece_characters)) {
        add(cat(R"({"tool_calls":[{"index":)", index, R"(,"function":{"arguments":)",
                json::quoted(piece), "}}]}"),
            true);
      }
      ++index;
    }
    out.push_back({"", chunk(answer, "{}", finish_reason(answer)), false, true});
    if (answer.with_usage) {
      out.push_back(
          {"", document(answer, "chat.completion.chunk", "[]", usage_json(answer)), false, true});
    }
    out.push_back({"", "[DONE]", false, true});
    return out;
  }

  std::string error_body(const Problem& problem) const override { return openai_error(problem); }
  SseEvent error_event(const Problem& problem) const override {
    return {"", openai_error(problem)};
  }

 private:
  static std::string document(const Answer& answer, std::string_view kind, std::string_view choices,
                              std::string_view usage) {
    std::string out;
    json::ObjectWriter object(out);
    object.field("id", answer.id)
        .field("object", kind)
        .field("created", answer.created)
        .field("model", answer.model)
        .raw("choices", choices);
    if (!usage.empty()) {
      object.raw("usage", usage);
    }
    object.close();
    return out;
  }

  static std::string chunk(const Answer& answer, std::string_view delta, std::string_view finish) {
    std::string choice;
    json::ObjectWriter object(choice);
    object.field("index", 0).raw("delta", delta);
    if (finish.empty()) {
      object.null("finish_reason");
    } else {
      object.field("finish_reason", finish);
    }
    object.close();
    return document(answer, "chat.completion.chunk", cat("[", choice, "]"),
                    answer.with_usage ? "null" : "");
  }
};

}  // namespace
}  // namespace openai_chat

std::unique_ptr<Protocol> make_openai_chat() {
  return std::make_unique<openai_chat::OpenaiChat>();
}

}  // namespace reprise::fake
