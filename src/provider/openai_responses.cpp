// openai-responses: POST {base}/responses. The provider keeps the conversation; a request that
// continues from a response id carries only what is new.

#include <charconv>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/http.h"
#include "base/json_write.h"
#include "base/text.h"
#include "model/media.h"
#include "provider/codec.h"
#include "provider/json_view.h"
#include "provider/reply_out.h"
#include "provider/request_options.h"
#include "provider/request_parts.h"
#include "provider/responses_reader.h"
#include "reprise/message.h"
#include "reprise/provider.h"

namespace reprise::provider {
namespace {

constexpr std::string_view kName = "openai-responses";

constexpr Spelling kSpellings[] = {
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
    json::ObjectWriter object(out);
    object.field("type", "function")
        .field("name", tool.name)
        .field("description", tool.description)
        .raw("parameters", tool.parameters.text())
        .field("strict", false);  // the default refuses schemas with optional parameters
    object.close();
  }
  array.close();
}

// Encrypted reasoning can be asked for only where a model reasons; others refuse the request.
bool reasons(std::string_view model) {
  model.remove_prefix(model.rfind('/') + 1);  // "openai/o3" at routers
  const bool o_series = model.size() > 1 && model[0] == 'o' && is_ascii_digit(model[1]);
  constexpr std::string_view kGpt = "gpt-";
  int version = 0;
  if (model.starts_with(kGpt)) {  // from 5 on; 0 for what is no number
    std::from_chars(model.data() + kGpt.size(), model.data() + model.size(), version);
  }
  return o_series || version >= 5 || model.starts_with("codex");
}

// One message is several items: text and pictures that follow one another, calls, results.
class Items {
 public:
  Items(json::ArrayWriter& items, std::string& out, const Message& message)
      : items_(items),
        out_(out),
        assistant_(message.role == role::kAssistant),
        own_(message.provider == kName) {}

  void operator()(const TextBlock& block) {
    if (block.text.empty()) {
      return;
    }
    part();
    json::ObjectWriter object(content_);
    object.field("type", assistant_ ? "output_text" : "input_text").field("text", block.text);
    object.close();
  }

  void operator()(const ImageBlock& block) {
    if (assistant_ || block.url.empty()) {
      return;
    }
    part();
    json::ObjectWriter object(content_);
    if (!model::is_pdf(block)) {
      object.field("type", "input_image").field("image_url", block.url);
    } else if (block.url.starts_with("data:")) {
      object.field("type", "input_file")
          .field("filename", model::file_name(block))
          .field("file_data", block.url);
    } else {
      object.field("type", "input_file").field("file_url", block.url);
    }
    object.close();
  }

  // The summary of reasoning; the reasoning itself is a block of its own.
  void operator()(const ThinkingBlock& /*block*/) {}

  void operator()(const ToolUseBlock& block) {
    end_content();
    items_.item();
    json::ObjectWriter object(out_);
    object.field("type", "function_call")
        .field("call_id", block.id)
        .field("name", block.name)
        .field("arguments", object_input(block.input));
    object.close();
  }

  void operator()(const ToolResultBlock& block) {
    end_content();
    items_.item();
    json::ObjectWriter object(out_);
    object.field("type", "function_call_output")
        .field("call_id", block.tool_use_id)
        .field("output", result_text(block));
    object.close();
  }

  // Reasoning without its encrypted content is only a name for what the provider may have
  // forgotten.
  void operator()(const UnknownBlock& block) {
    if (!own_ || (block.type == "reasoning" &&
                  JsonView(block.json.text())["encrypted_content"].text().empty())) {
      return;
    }
    end_content();
    items_.item();
    out_ += sendable(block.json);
  }

  void end_content() {
    if (content_.empty()) {
      return;
    }
    items_.item();
    json::ObjectWriter object(out_);
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
  bool assistant_;
  bool own_;
  std::string content_;
};

class OpenaiResponses final : public Codec {
 public:
  std::string_view name() const override { return kName; }
  std::string_view path(std::string_view /*base_url*/) const override { return "/responses"; }
  bool keeps_responses() const override { return true; }
  std::vector<http::Header> headers(std::string_view api_key) const override {
    if (api_key.empty()) {
      return {};
    }
    return {{"Authorization", cat("Bearer ", api_key)}};
  }

  std::span<const Spelling> spellings() const override { return kSpellings; }
  std::string_view messages_field() const override { return "input"; }

  void begin_body(std::string& out, const Request& request) const override {
    json::ObjectWriter object(out);
    object.field("model", request.model).field("stream", request.stream).field("store", true);
    if (!request.previous_response_id.empty()) {
      object.field("previous_response_id", request.previous_response_id);
    }
    if (!request.system.empty()) {
      object.field("instructions", request.system);  // a continued response does not keep them
    }
    if (request.temperature) {
      object.raw("temperature", spelled(*request.temperature));
    }
    if (request.max_tokens) {
      object.field("max_output_tokens", *request.max_tokens);
    }
    if (reasons(request.model)) {
      object.raw("include", R"(["reasoning.encrypted_content"])");
    }
    if (!request.tools.empty()) {
      object.key("tools");
      append_tools(out, request.tools);
    }
    object.close();
  }

  void add_message(json::ArrayWriter& items, std::string& out,
                   const Message& message) const override {
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

  std::unique_ptr<ReplyReader> reader(ReplyOut& out) const override {
    return make_responses_reader(out);
  }
};

}  // namespace

std::unique_ptr<Codec> make_openai_responses() {
  return std::make_unique<OpenaiResponses>();
}

}  // namespace reprise::provider
