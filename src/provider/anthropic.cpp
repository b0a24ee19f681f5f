// anthropic: POST {base}/v1/messages.

#include "base/json_scan.h"
#include "base/text.h"
#include "model/attachment.h"
#include "provider/codec.h"
#include "provider/kinds.h"
#include "provider/request_parts.h"

namespace reprise::provider {
namespace anthropic {
namespace {

constexpr std::string_view kName = "anthropic";

// A mark makes the provider cache everything before it; the next request with the same beginning
// reads it from there. At most four are allowed.
constexpr std::string_view kCacheControl = R"({"type":"ephemeral"})";

constexpr OptionEncoding kOptionEncodings[] = {
    {"reasoning_summary", R"("none")", R"({"thinking":{"type":"adaptive","display":"omitted"}})"},
    {"reasoning_summary", "", R"({"thinking":{"type":"adaptive","display":"summarized"}})"},
    {"effort", R"("none")", R"({"thinking":{"type":"disabled"}})"},
    {"effort", R"("minimal")",
     R"({"thinking":{"type":"adaptive"},"output_config":{"effort":"low"}})"},
    {"effort", "", R"({"thinking":{"type":"adaptive"},"output_config":{"effort":%}})"},
    {"thinking_budget", "", R"({"thinking":{"type":"enabled","budget_tokens":%}})"},
    {"schema", "", R"({"output_config":{"format":{"type":"json_schema","schema":%}}})"},
    {"stop", "", R"({"stop_sequences":%})"},
    {"top_p", "", R"({"top_p":%})"},
    {"service_tier", "", R"({"service_tier":%})"},
    {"tool_choice", R"("auto")", R"({"tool_choice":{"type":"auto"}})"},
    {"tool_choice", R"("none")", R"({"tool_choice":{"type":"none"}})"},
    {"tool_choice", R"("required")", R"({"tool_choice":{"type":"any"}})"},
    {"tool_choice", "", R"({"tool_choice":{"type":"tool","name":%}})"},
};

void append_tools(std::string& out, const std::vector<ToolSpec>& tools, bool cached) {
  json::ArrayWriter array(out);
  for (const ToolSpec& tool : tools) {
    array.item();
    json::ObjectWriter object(out);
    object.field("name", tool.name)
        .field("description", tool.description)
        .raw("input_schema", tool.parameters.text());
    if (cached && &tool == &tools.back()) {
      object.raw("cache_control", kCacheControl);
    }
    object.close();
  }
  array.close();
}

// The prompt as a block, which can have a mark.
void append_cached_system(std::string& out, std::string_view system) {
  json::ArrayWriter array(out);
  array.item();
  json::append_object(out, "type", "text", "text", system, "cache_control",
                      json::take(kCacheControl));
  array.close();
}

// Writes the blocks of one message; skips blocks that this provider does not accept.
class Blocks {
 public:
  Blocks(json::ArrayWriter& array, std::string& out, const Message& message)
      : array_(array), out_(out), is_same_provider_(message.provider == kName) {}

  // The server rejects blank text blocks.
  void operator()(const TextBlock& block) {
    if (!trimmed(block.text).empty()) {
      text(block.text);
    }
  }

  // The server rejects thinking without a signature.
  void operator()(const ThinkingBlock& block) {
    if (is_same_provider_ && !block.signature.empty()) {
      array_.item();
      json::append_object(out_, "type", "thinking", "thinking", block.text, "signature",
                          block.signature);
    }
  }

  void operator()(const ToolUseBlock& block) {
    array_.item();
    json::ObjectWriter object(out_);
    object.field("type", "tool_use")
        .field("id", block.id)
        .field("name", block.name)
        .raw("input", object_input(block.input));
    for (const ExtraField& member : block.extra) {
      object.raw(member.name, sendable(member.value));
    }
    object.close();
  }

  void operator()(const ToolResultBlock& block) {
    array_.item();
    json::ObjectWriter object(out_);
    object.field("type", "tool_result")
        .field("tool_use_id", block.tool_use_id)
        .field("content", result_text(block));
    if (block.is_error) {
      object.field("is_error", true);
    }
    object.close();
  }

  void operator()(const ImageBlock& block) {
    if (block.url.empty()) {
      return;
    }
    array_.item();
    json::ObjectWriter object(out_);
    object.field("type", model::is_pdf(block) ? "document" : "image").key("source");
    json::ObjectWriter source(out_);
    if (const DataUrl data = parse_data_url(block.url); !data.base64.empty()) {
      source.field("type", "base64")
          .field("media_type", data.media_type.empty() ? block.media_type : data.media_type)
          .field("data", data.base64);
    } else {
      source.field("type", "url").field("url", block.url);
    }
    source.close();
    object.close();
  }

  void operator()(const UnknownBlock& block) {
    if (is_same_provider_) {
      array_.item();
      out_ += sendable(block.json);
    }
  }

  void text(std::string_view text) {
    array_.item();
    json::append_object(out_, "type", "text", "text", text);
  }

 private:
  json::ArrayWriter& array_;
  std::string& out_;
  bool is_same_provider_;
};

bool is_result(const Block& block) {
  return std::holds_alternative<ToolResultBlock>(block);
}

// Tool results must come first in a user message.
void append_user(Blocks& blocks, const Message& message) {
  for (const bool results : {true, false}) {
    for (const Block& block : message.blocks) {
      if (is_result(block) == results) {
        std::visit(blocks, block);
      }
    }
  }
}

// Images are accepted in user messages only. Trailing blanks are rejected in the last message.
void append_assistant(Blocks& blocks, const Message& message) {
  for (const Block& block : message.blocks) {
    if (const auto* text = std::get_if<TextBlock>(&block); text != nullptr) {
      const std::string_view words = trimmed(text->text);
      if (!words.empty()) {
        blocks.text(std::string_view(text->text.data(), words.data() + words.size()));
      }
    } else if (!std::holds_alternative<ImageBlock>(block)) {
      std::visit(blocks, block);
    }
  }
}

// The thinking budget must be below the limit of the whole answer.
std::int64_t answer_limit(const Request& request) {
  const std::int64_t limit = anthropic_max_tokens(request.model);
  const std::int64_t budget = request.options.thinking_budget.value_or(0);
  return budget < limit ? limit : budget + limit;
}

class Anthropic final : public Codec {
 public:
  std::string_view name() const override { return kName; }
  // Users write the base URL with and without the version.
  std::string_view path(std::string_view base_url) const override {
    return base_url.ends_with("/v1") ? "/messages" : "/v1/messages";
  }
  bool needs_max_tokens() const override { return true; }
  std::string_view models_path(std::string_view base_url) const override {
    return base_url.ends_with("/v1") ? "/models" : "/v1/models";
  }
  std::vector<http::Header> headers(std::string_view api_key) const override {
    std::vector<http::Header> out = {{"anthropic-version", "2023-06-01"}};
    if (!api_key.empty()) {
      out.push_back({"x-api-key", std::string(api_key)});
    }
    return out;
  }

  std::span<const OptionEncoding> option_encodings() const override { return kOptionEncodings; }

  void begin_body(std::string& out, const Request& request) const override {
    const bool cached = request.options.prompt_cache.value_or(false);
    json::ObjectWriter object(out);
    object.field("model", request.model)
        .field("max_tokens", request.max_tokens.value_or(answer_limit(request)))
        .field("stream", request.stream);
    if (!request.system.empty() && cached) {
      object.key("system");
      append_cached_system(out, request.system);
    } else if (!request.system.empty()) {
      object.field("system", request.system);
    }
    if (request.temperature) {
      object.raw("temperature", number_to_json(*request.temperature));
    }
    if (!request.tools.empty()) {
      object.key("tools");
      append_tools(out, request.tools, cached);
    }
    object.close();
  }

  // A request whose history has calls must declare tools: the called ones are declared with
  // tool_choice none.
  std::string end_fields(const std::set<std::string>& called) const override {
    std::string out;
    json::ObjectWriter object(out);
    if (!called.empty()) {
      std::vector<ToolSpec> tools;
      tools.reserve(called.size());
      for (const std::string& name : called) {
        tools.push_back({name, "not available now", json::take(R"({"type":"object"})")});
      }
      object.key("tools");
      append_tools(out, tools, false);
      object.raw("tool_choice", R"({"type":"none"})");
    }
    object.close();
    return out;
  }

  void add_message(json::ArrayWriter& items, std::string& out, const Message& message,
                   const RequestForm& /*form*/) const override {
    add(items, out, message, false);
  }

  // The next request has the same messages up to this one.
  void add_last_message(json::ArrayWriter& items, std::string& out, const Message& message,
                        const Request& request) const override {
    add(items, out, message, request.options.prompt_cache.value_or(false) && request.grows);
  }

  std::unique_ptr<ReplyReader> reader(ReplyWriter& out) const override {
    return make_anthropic_reader(out);
  }

 private:
  static void add(json::ArrayWriter& items, std::string& out, const Message& message, bool cached) {
    const bool assistant = message.role == role::kAssistant;
    std::string content;
    json::ArrayWriter array(content);
    Blocks blocks(array, content, message);
    if (assistant) {
      append_assistant(blocks, message);
    } else {
      append_user(blocks, message);
    }
    array.close();
    if (content == "[]") {
      return;  // the server rejects empty messages
    }
    // Not every block of an answer may have a mark.
    if (constexpr std::string_view kEnd = "}]"; cached && !assistant && content.ends_with(kEnd)) {
      content.resize(content.size() - kEnd.size());
      content += cat(R"(,"cache_control":)", kCacheControl, kEnd);
    }
    items.item();
    json::ObjectWriter(out)
        .field("role", assistant ? role::kAssistant : role::kUser)
        .raw("content", content)
        .close();
  }
};

}  // namespace
}  // namespace anthropic

std::unique_ptr<Codec> make_anthropic() {
  return std::make_unique<anthropic::Anthropic>();
}

}  // namespace reprise::provider
