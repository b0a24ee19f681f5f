// openai-responses: POST {base}/responses. OpenAI stores the conversation: a request that continues
// from a response id has only new messages. Other servers store nothing, even if they accept the
// parameter: they get the whole history, with their own reasoning.

#include "base/json_view.h"
#include "base/text.h"
#include "model/attachment.h"
#include "provider/body_changes.h"
#include "provider/codec.h"
#include "provider/kinds.h"
#include "provider/request_parts.h"

namespace reprise::provider {
namespace openai_responses {
namespace {

constexpr std::string_view kName = "openai-responses";

constexpr OptionEncoding kOptionEncodings[] = {
    {"reasoning_summary", R"("none")", "{}"},
    {"reasoning_summary", "", R"({"reasoning":{"summary":%}})"},
    {"effort", "", R"({"reasoning":{"effort":%}})"},
    {"schema", "",
     R"({"text":{"format":{"type":"json_schema","name":"answer","schema":%,"strict":true}}})"},
    {"top_p", "", R"({"top_p":%})"},
    {"service_tier", "", R"({"service_tier":%})"},
    {"tool_choice", R"("auto")", R"({"tool_choice":%})"},
    {"tool_choice", R"("none")", R"({"tool_choice":%})"},
    {"tool_choice", R"("required")", R"({"tool_choice":%})"},
    {"tool_choice", "", R"({"tool_choice":{"type":"function","name":%}})"},
    {"prompt_cache_key", "", R"({"prompt_cache_key":%})"},
};

void append_tools(std::string& out, const std::vector<ToolSpec>& tools) {
  json::ArrayWriter array(out);
  for (const ToolSpec& tool : tools) {
    array.item();
    // Not strict: the default rejects schemas with optional parameters.
    json::append_object(out, "type", "function", "name", tool.name, "description", tool.description,
                        "parameters", tool.parameters, "strict", false);
  }
  array.close();
}

// Writes one message as several items: consecutive text and images, calls, results.
class Items {
 public:
  Items(json::ArrayWriter& items, std::string& out, const Message& message)
      : items_(items), out_(out), message_(message), assistant_(message.role == role::kAssistant) {}

  void operator()(const TextBlock& block) {
    if (block.text.empty()) {
      return;
    }
    part();
    json::ObjectWriter object(content_);
    object.field("type", assistant_ ? "output_text" : "input_text").field("text", block.text);
    if (assistant_) {
      object.raw("annotations", "[]");
    }
    object.close();
  }

  void operator()(const ImageBlock& block) {
    if (assistant_ || block.url.empty()) {
      return;
    }
    part();
    json::ObjectWriter object(content_);
    if (!model::is_pdf(block)) {
      object.field("type", "input_image").field("image_url", block.url).field("detail", "auto");
    } else if (block.url.starts_with("data:")) {
      object.field("type", "input_file")
          .field("filename", model::file_name(block))
          .field("file_data", block.url);
    } else {
      object.field("type", "input_file").field("file_url", block.url);
    }
    object.close();
  }

  // A summary of the reasoning; the reasoning itself is a separate block.
  void operator()(const ThinkingBlock& /*block*/) {}

  void operator()(const ToolUseBlock& block) {
    end_content();
    items_.item();
    json::ObjectWriter object(out_);
    object.field("type", "function_call")
        .field("call_id", block.id)
        .field("name", block.name)
        .field("arguments", object_input(block.input));
    for (const ExtraField& member : block.extra) {
      object.raw(member.name, sendable(member.value));
    }
    object.close();
  }

  void operator()(const ToolResultBlock& block) {
    end_content();
    items_.item();
    json::append_object(out_, "type", "function_call_output", "call_id", block.tool_use_id,
                        "output", result_text(block));
  }

  void operator()(const UnknownBlock& block) {
    const JsonView item(block.json.text());
    // Without its content, reasoning is a reference that the server may have dropped.
    const bool is_reference = block.type == "reasoning" && !has_value(item["encrypted_content"]) &&
                              !has_value(item["content"]);
    if (message_.provider == kName && !is_reference) {
      end_content();
      items_.item();
      out_ += sendable(block.json);
    }
  }

  // Some servers require the type of a message, others the id and status of an answer.
  void end_content() {
    if (content_.empty()) {
      return;
    }
    items_.item();
    json::ObjectWriter object(out_);
    object.field("type", "message");
    if (assistant_) {
      const bool is_incomplete = message_.state == MessageState::incomplete;
      object.field("id", cat("msg_", message_.seq.value, "_", texts_++))
          .field("status", is_incomplete ? "incomplete" : "completed");
    }
    object.field("role", assistant_ ? role::kAssistant : role::kUser);
    object.raw("content", cat('[', content_, ']'));
    object.close();
    content_.clear();
  }

 private:
  void part() {
    if (!content_.empty()) {
      content_ += ',';
    }
  }

  json::ArrayWriter& items_;
  std::string& out_;
  const Message& message_;
  bool assistant_;
  std::string content_;
  int texts_ = 0;
};

class OpenaiResponses final : public Codec {
 public:
  OpenaiResponses(std::string_view base_url, std::optional<bool> store)
      : host_(is_openai(base_url) ? "" : http::host_of(base_url)), store_(store) {}

  std::string_view name() const override { return kName; }
  std::string_view path(std::string_view /*base_url*/) const override { return "/responses"; }
  bool stores_responses() const override { return store_.value_or(true); }
  bool continues_responses() const override { return store_.value_or(host_.empty()); }
  std::vector<http::Header> headers(std::string_view api_key) const override {
    return bearer_headers(api_key);
  }

  std::span<const OptionEncoding> option_encodings() const override { return kOptionEncodings; }
  std::string_view messages_field() const override { return "input"; }

  void begin_body(std::string& out, const Request& request) const override {
    json::ObjectWriter object(out);
    const bool store = is_stored(request);
    object.field("model", request.model).field("stream", request.stream).field("store", store);
    if (!request.previous_response_id.empty()) {
      object.field("previous_response_id", request.previous_response_id);
    }
    if (!request.system.empty()) {
      object.field("instructions", request.system);  // not inherited from the previous response
    }
    if (request.temperature) {
      object.raw("temperature", number_to_json(*request.temperature));
    }
    if (request.max_tokens) {
      object.field("max_output_tokens", *request.max_tokens);
    }
    if (!store) {
      object.raw("include", R"(["reasoning.encrypted_content"])");
    }
    if (!request.tools.empty()) {
      object.key("tools");
      append_tools(out, request.tools);
    }
    object.close();
  }

  void add_message(json::ArrayWriter& items, std::string& out, const Message& message,
                   const RequestForm& /*form*/) const override {
    Items writer(items, out, message);
    for (const bool results : {true, false}) {
      for (const Block& block : message.blocks) {
        if (std::holds_alternative<ToolResultBlock>(block) == results) {
          std::visit(writer, block);
        }
      }
    }
    writer.end_content();
  }

  std::unique_ptr<ReplyReader> reader(ReplyWriter& out) const override {
    return make_responses_reader(out);
  }

 private:
  bool is_stored(const Request& request) const {
    return stores_responses() && (continues_responses() || request.store_response ||
                                  !request.previous_response_id.empty());
  }

  std::string host_;  // "" for OpenAI
  std::optional<bool> store_;
};

}  // namespace
}  // namespace openai_responses

std::unique_ptr<Codec> make_openai_responses(std::string_view base_url, std::optional<bool> store) {
  return std::make_unique<openai_responses::OpenaiResponses>(base_url, store);
}

}  // namespace reprise::provider
