#include "fake_provider/openai_responses.h"

#include <map>
#include <memory>
#include <set>

#include "base/json_write.h"
#include "base/text.h"
#include "fake_provider/answer.h"
#include "fake_provider/json_value.h"
#include "fake_provider/protocol.h"

namespace reprise::fake {
namespace openai_responses {
namespace {

// The items of one answer are named after it: "resp_1" has "rs_1", "msg_1" and "fc_1-0".
std::string item_id(const Answer& answer, std::string_view prefix) {
  return cat(prefix, std::string_view(answer.id).substr(answer.id.find('_') + 1));
}

std::string usage_json(const Answer& answer) {
  std::string out;
  json::ObjectWriter usage(out);
  usage.field("input_tokens", answer.input_tokens)
      .raw("input_tokens_details", R"({"cached_tokens":0})")
      .field("output_tokens", answer.output_tokens)
      .raw("output_tokens_details", cat(R"({"reasoning_tokens":)", answer.thinking_tokens, "}"))
      .field("total_tokens", answer.input_tokens + answer.output_tokens)
      .close();
  return out;
}

std::string summary_part(std::string_view text) {
  return cat(R"({"type":"summary_text","text":)", json::quoted(text), "}");
}

std::string text_part(std::string_view text) {
  return cat(R"({"type":"output_text","annotations":[],"logprobs":[],"text":)", json::quoted(text),
             "}");
}

// Items at their beginning (empty) and at their end.
std::string reasoning_item(const Answer& answer, bool whole) {
  std::string out;
  json::ObjectWriter object(out);
  object.field("id", item_id(answer, "rs_"))
      .field("type", "reasoning")
      .raw("summary", whole ? cat("[", summary_part(answer.thinking), "]") : "[]");
  if (!answer.signature.empty()) {
    object.field("encrypted_content", answer.signature);
  }
  object.close();
  return out;
}

std::string message_item(const Answer& answer, bool whole) {
  std::string out;
  json::ObjectWriter object(out);
  object.field("id", item_id(answer, "msg_"))
      .field("type", "message")
      .field("status", whole ? "completed" : "in_progress")
      .raw("content", whole ? cat("[", text_part(answer.text), "]") : "[]")
      .field("role", "assistant")
      .close();
  return out;
}

std::string call_item(const Call& call, bool whole) {
  std::string out;
  json::ObjectWriter object(out);
  object.field("id", cat("fc_", call.id))
      .field("type", "function_call")
      .field("status", whole ? "completed" : "in_progress")
      .field("arguments", whole ? std::string_view(call.input) : "")
      .field("call_id", call.id)
      .field("name", call.name)
      .close();
  return out;
}

std::string response_json(const Answer& answer, bool whole) {
  std::string output;
  json::ArrayWriter items(output);
  if (whole && !answer.thinking.empty()) {
    items.item();
    output += reasoning_item(answer, true);
  }
  if (whole && !answer.text.empty()) {
    items.item();
    output += message_item(answer, true);
  }
  for (const Call& call : answer.calls) {
    if (whole) {
      items.item();
      output += call_item(call, true);
    }
  }
  items.close();
  std::string out;
  json::ObjectWriter object(out);
  object.field("id", answer.id)
      .field("object", "response")
      .field("created_at", answer.created)
      .field("status", whole ? "completed" : "in_progress")
      .null("error")
      .null("incomplete_details")
      .field("model", answer.model)
      .raw("output", output)
      .raw("usage", whole ? usage_json(answer) : "null")
      .close();
  return out;
}

// Builds the events of one streamed response.
class EventList {
 public:
  explicit EventList(const Answer& answer) : answer_(answer) {}

  std::vector<SseEvent> build() && {
    add("response.created", cat(R"("response":)", response_json(answer_, false)));
    add("response.in_progress", cat(R"("response":)", response_json(answer_, false)));
    if (!answer_.thinking.empty()) {
      reasoning();
    }
    if (!answer_.text.empty()) {
      message();
    }
    for (const Call& call : answer_.calls) {
      function_call(call);
    }
    add("response.completed", cat(R"("response":)", response_json(answer_, true)));
    out_.back().is_end = true;
    return std::move(out_);
  }

 private:
  void add(std::string_view type, std::string_view fields) {
    out_.push_back({std::string(type), cat(R"({"type":")", type, R"(","sequence_number":)",
                                           out_.size(), ",", fields, "}")});
  }
  void add_item(std::string_view what, std::string_view item) {
    add(cat("response.output_item.", what), cat(R"("output_index":)", index_, R"(,"item":)", item));
  }
  // "item_id", "output_index" and the index of the part.
  std::string place(std::string_view id, std::string_view part) const {
    return cat(R"("item_id":)", json::quoted(id), R"(,"output_index":)", index_,
               part.empty() ? "" : cat(",\"", part, "\":0"), ",");
  }
  void deltas(std::string_view type, const std::string& at, std::string_view text) {
    for (const std::string& piece : pieces(text, answer_.piece_characters)) {
      add(type, cat(at, R"("delta":)", json::quoted(piece)));
      out_.back().is_delta = true;
    }
  }

  void reasoning() {
    const std::string at = place(item_id(answer_, "rs_"), "summary_index");
    add_item("added", reasoning_item(answer_, false));
    add("response.reasoning_summary_part.added", cat(at, R"("part":)", summary_part("")));
    deltas("response.reasoning_summary_text.delta", at, answer_.thinking);
    add("response.reasoning_summary_text.done",
        cat(at, R"("text":)", json::quoted(answer_.thinking)));
    add("response.reasoning_summary_part.done",
        cat(at, R"("part":)", summary_part(answer_.thinking)));
    add_item("done", reasoning_item(answer_, true));
    ++index_;
  }
  void message() {
    const std::string at = place(item_id(answer_, "msg_"), "content_index");
    add_item("added", message_item(answer_, false));
    add("response.content_part.added", cat(at, R"("part":)", text_part("")));
    deltas("response.output_text.delta", at, answer_.text);
    add("response.output_text.done", cat(at, R"("text":)", json::quoted(answer_.text)));
    add("response.content_part.done", cat(at, R"("part":)", text_part(answer_.text)));
    add_item("done", message_item(answer_, true));
    ++index_;
  }
  void function_call(const Call& call) {
    const std::string at = place(cat("fc_", call.id), "");
    add_item("added", call_item(call, false));
    deltas("response.function_call_arguments.delta", at, call.input);
    add("response.function_call_arguments.done",
        cat(at, R"("arguments":)", json::quoted(call.input)));
    add_item("done", call_item(call, true));
    ++index_;
  }

  const Answer& answer_;
  std::vector<SseEvent> out_;
  int index_ = 0;
};

class OpenaiResponses final : public Protocol {
 public:
  explicit OpenaiResponses(std::uint64_t seed) { issued_.seed = seed; }

  std::string_view path() const override { return "/v1/responses"; }
  std::string_view id_prefix() const override { return "resp_"; }
  std::string_view call_prefix() const override { return "call_"; }

  Result<Turn> check(const Value& body) override {
    REPRISE_ASSIGN(Chain chain, continued(body));
    return std::move(chain.turn);
  }

  // The answer's own items join the chain; it is known under the answer's id.
  void answered(const Value& body, const Answer& answer) override {
    auto chain = continued(body);
    const Value& store = body.find("store");
    if (!chain || (store.is(Kind::boolean) && !store.is_true())) {
      return;
    }
    if (!answer.thinking.empty()) {
      issued_.reasoning.insert(item_id(answer, "rs_"));
    }
    if (!answer.calls.empty()) {
      ++chain->turn.rounds;
      chain->turn.results.clear();
    }
    chain->turn.messages += answer.text.empty() ? 0 : 1;
    for (const Call& call : answer.calls) {
      ++chain->turn.messages;
      chain->open.insert(call.id);
      chain->seen.insert(call.id);
    }
    chains_.insert_or_assign(answer.id, *std::move(chain));
  }

  std::string plain(const Answer& answer) const override { return response_json(answer, true); }
  std::vector<SseEvent> events(const Answer& answer) const override {
    return EventList(answer).build();
  }

  std::string error_body(const Problem& problem) const override { return openai_error(problem); }
  SseEvent error_event(const Problem& problem) const override {
    return {"error", cat(R"({"type":"error","sequence_number":99,"code":"server_error",)",
                         R"("param":null,"message":)", json::quoted(problem.message), "}")};
  }

 private:
  // The messages that the model sees with this request.
  Result<Chain> continued(const Value& body) const {
    Chain chain;
    if (const Value& previous = body.find("previous_response_id"); previous.is(Kind::string)) {
      if (!previous.text.starts_with(id_prefix())) {
        return refuse(cat("previous_response_id: '", previous.text, "' does not begin with resp_"));
      }
      const auto found = chains_.find(previous.text);
      if (found == chains_.end()) {
        return fail(Code::expired,
                    cat("Previous response with id '", previous.text, "' not found."));
      }
      chain = found->second;
    }
    REPRISE_TRY(openai_responses::check(body, issued_, chain));
    return chain;
  }

  Issued issued_;
  std::map<std::string, Chain> chains_;  // by response id
};

}  // namespace
}  // namespace openai_responses

std::unique_ptr<Protocol> make_openai_responses(std::uint64_t seed) {
  return std::make_unique<openai_responses::OpenaiResponses>(seed);
}

}  // namespace reprise::fake
