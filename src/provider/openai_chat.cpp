// openai-chat: POST {base}/chat/completions, as documented by OpenAI and implemented by many
// compatible servers.

#include <algorithm>

#include "base/json_scan.h"
#include "base/json_view.h"
#include "base/text.h"
#include "model/attachment.h"
#include "provider/codec.h"
#include "provider/kinds.h"
#include "provider/request_parts.h"

namespace reprise::provider {
namespace openai_chat {
namespace {

constexpr OptionEncoding kOptionEncodings[] = {
    {"effort", "", R"({"reasoning_effort":%})"},
    {"schema", "",
     R"({"response_format":{"type":"json_schema","json_schema":)"
     R"({"name":"answer","schema":%,"strict":true}}})"},
    {"stop", "", R"({"stop":%})"},
    {"top_p", "", R"({"top_p":%})"},
    {"seed", "", R"({"seed":%})"},
    {"service_tier", "", R"({"service_tier":%})"},
    {"tool_choice", R"("auto")", R"({"tool_choice":%})"},
    {"tool_choice", R"("none")", R"({"tool_choice":%})"},
    {"tool_choice", R"("required")", R"({"tool_choice":%})"},
    {"tool_choice", "", R"({"tool_choice":{"type":"function","function":{"name":%}}})"},
    {"prompt_cache_key", "", R"({"prompt_cache_key":%})"},
};

void append_tools(std::string& out, const std::vector<ToolSpec>& tools) {
  json::ArrayWriter array(out);
  for (const ToolSpec& tool : tools) {
    array.item();
    json::ObjectWriter object(out);
    object.field("type", "function").key("function");
    json::append_object(out, "name", tool.name, "description", tool.description, "parameters",
                        tool.parameters);
    object.close();
  }
  array.close();
}

bool has_image(const Message& message) {
  return std::ranges::any_of(message.blocks, [](const Block& block) {
    const auto* image = std::get_if<ImageBlock>(&block);
    return image != nullptr && !image->url.empty();
  });
}

// The protocol supports documents by content only, not by URL.
void append_document(std::string& out, const ImageBlock& document) {
  json::ObjectWriter object(out);
  if (document.url.starts_with("data:")) {
    object.field("type", "file").key("file");
    json::append_object(out, "filename", model::file_name(document), "file_data", document.url);
  } else {
    object.field("type", "text").field("text", cat("(a document at ", document.url, ")"));
  }
  object.close();
}

// Text and images as a list of parts, in order.
void append_parts(std::string& out, const Message& message) {
  json::ArrayWriter array(out);
  for (const Block& block : message.blocks) {
    if (const auto* text = std::get_if<TextBlock>(&block); text != nullptr && !text->text.empty()) {
      array.item();
      json::append_object(out, "type", "text", "text", text->text);
    }
    const auto* image = std::get_if<ImageBlock>(&block);
    if (image != nullptr && !image->url.empty() && model::is_pdf(*image)) {
      array.item();
      append_document(out, *image);
    } else if (image != nullptr && !image->url.empty()) {
      array.item();
      json::ObjectWriter object(out);
      object.field("type", "image_url").key("image_url");
      json::append_object(out, "url", image->url);
      object.close();
    }
  }
  array.close();
}

void add_user(json::ArrayWriter& items, std::string& out, const Message& message) {
  for (const Block& block : message.blocks) {
    if (const auto* result = std::get_if<ToolResultBlock>(&block); result != nullptr) {
      items.item();
      json::append_object(out, "role", "tool", "tool_call_id", result->tool_use_id, "content",
                          result_text(*result));
    }
  }
  const bool parts = has_image(message);
  const std::string text = parts ? std::string() : plain_text(message);
  if (!parts && text.empty()) {
    return;
  }
  items.item();
  json::ObjectWriter object(out);
  object.field("role", "user");
  if (parts) {
    object.key("content");
    append_parts(out, message);
  } else {
    object.field("content", text);  // also understood by servers without parts
  }
  object.close();
}

// Accepted by Google in place of the signature of a call that another model made.
constexpr std::string_view kPlaceholderSignature =
    R"({"google":{"thought_signature":"skip_thought_signature_validator"}})";
constexpr std::string_view kExtraContent = "extra_content";

void append_tool_calls(std::string& out, const std::vector<const ToolUseBlock*>& calls,
                       const RequestForm& form) {
  json::ArrayWriter array(out);
  for (const ToolUseBlock* call : calls) {
    array.item();
    json::ObjectWriter object(out);
    object.field("id", call->id).field("type", "function").key("function");
    json::append_object(out, "name", call->name, "arguments", object_input(call->input));
    for (const ExtraField& member : call->extra) {
      object.raw(member.name, sendable(member.value));
    }
    if (form.fills_signatures && json::find_field(call->extra, kExtraContent) == nullptr) {
      object.raw(kExtraContent, kPlaceholderSignature);
    }
    object.close();
  }
  array.close();
}

// Several servers reject calls without the preceding reasoning, in its original field.
void add_reasoning(json::ObjectWriter& object, const Message& message, const RequestForm& form) {
  std::string content;
  std::string plain;
  std::string details;
  for (const Block& block : message.blocks) {
    if (const auto* thinking = std::get_if<ThinkingBlock>(&block); thinking != nullptr) {
      const auto is_in = [thinking](std::string_view field) {
        return thinking->signature.starts_with(cat(field, "@"));
      };
      if (form.fills_reasoning || is_in(kReasoningContent)) {
        content += thinking->text;
      } else if (is_in(kReasoning)) {
        plain += thinking->text;
      }
    }
    const auto* raw = std::get_if<UnknownBlock>(&block);
    if (raw != nullptr && raw->type == kReasoningDetails) {
      details = sendable(json::take(JsonView(raw->json.text())[kReasoningDetails].raw()));
    }
  }
  if (!details.empty()) {
    object.raw(kReasoningDetails, details);
  } else if (!plain.empty()) {
    object.field(kReasoning, plain);
  } else if (!content.empty() || form.fills_reasoning) {
    object.field(kReasoningContent, content);
  }
}

// Members of an answer that are unknown here go back to their server.
void add_members(json::ObjectWriter& object, const Message& message) {
  for (const Block& block : message.blocks) {
    const auto* const raw = std::get_if<UnknownBlock>(&block);
    if (raw != nullptr && raw->type == kMessageMembersType) {
      JsonView(raw->json.text()).each_member([&object](std::string_view name, JsonView value) {
        if (name != "type") {
          object.raw(name, sendable(json::take(value.raw())));
        }
      });
    }
  }
}

void add_assistant(json::ArrayWriter& items, std::string& out, const Message& message,
                   const RequestForm& form) {
  const std::string text = plain_text(message);
  const auto calls = tool_calls(message);
  if (text.empty() && calls.empty()) {
    return;
  }
  items.item();
  json::ObjectWriter object(out);
  object.field("role", "assistant");
  if (text.empty()) {
    object.null("content");
  } else {
    object.field("content", text);
  }
  add_members(object, message);
  if (!calls.empty()) {
    add_reasoning(object, message, form);
    object.key("tool_calls");
    append_tool_calls(out, calls, form);
  }
  object.close();
}

class OpenaiChat final : public Codec {
 public:
  // OpenAI has replaced "max_tokens" and rejects it for newer models; other servers support only
  // that.
  explicit OpenaiChat(std::string_view base_url)
      : host_(base_url.empty() ? "api.openai.com" : http::host_of(base_url)),
        max_tokens_name_(is_openai(base_url) ? "max_completion_tokens" : "max_tokens") {}

  std::string_view name() const override { return "openai-chat"; }
  std::string_view path(std::string_view /*base_url*/) const override {
    return "/chat/completions";
  }
  std::vector<http::Header> headers(std::string_view api_key) const override {
    return bearer_headers(api_key);
  }

  std::span<const OptionEncoding> option_encodings() const override { return kOptionEncodings; }

  void begin_body(std::string& out, const Request& request) const override {
    json::ObjectWriter object(out);
    object.field("model", request.model).field("stream", request.stream);
    if (request.stream) {
      object.raw("stream_options", R"({"include_usage":true})");
    }
    if (request.temperature) {
      object.raw("temperature", number_to_json(*request.temperature));
    }
    if (request.max_tokens) {
      object.field(max_tokens_name_, *request.max_tokens);
    }
    if (!request.tools.empty()) {
      object.key("tools");
      append_tools(out, request.tools);
    }
    object.close();
  }

  void begin_messages(json::ArrayWriter& items, std::string& out,
                      const Request& request) const override {
    if (!request.system.empty()) {
      items.item();
      json::append_object(out, "role", "system", "content", request.system);
    }
  }

  void add_message(json::ArrayWriter& items, std::string& out, const Message& message,
                   const RequestForm& form) const override {
    if (message.role == role::kAssistant) {
      add_assistant(items, out, message, form);
    } else {
      add_user(items, out, message);
    }
  }

  std::unique_ptr<ReplyReader> reader(ReplyWriter& out) const override {
    return make_chat_reader(out, host_);
  }

 private:
  std::string host_;
  std::string_view max_tokens_name_;
};

}  // namespace
}  // namespace openai_chat

std::unique_ptr<Codec> make_openai_chat(std::string_view base_url) {
  return std::make_unique<openai_chat::OpenaiChat>(base_url);
}

}  // namespace reprise::provider
