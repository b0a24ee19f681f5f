// A transcript of Claude Code: each line names its parent, the previous one.

#include <algorithm>

#include "base/json_write.h"
#include "base/text.h"
#include "export/content.h"
#include "export/formats.h"
#include "export/paired.h"

namespace reprise::exporting {
namespace {

constexpr std::string_view kClaudeVersion = "2.1.330";  // written to the file
constexpr std::string_view kSigner = "anthropic";

class ClaudeWriter final : public PairedWriter {
 public:
  explicit ClaudeWriter(Job& job)
      : PairedWriter(job), session_(uuid_of(job.session)), times_(job.session) {}

  Result<> end() override {
    REPRISE_TRY(PairedWriter::end());
    const std::string& title = job().session.info.title;
    if (title.empty()) {
      return {};
    }
    const std::string out =
        json::object_of("type", "custom-title", "customTitle", title, "sessionId", session_);
    return write(out + "\n");
  }

 protected:
  Result<> other(const Message& message) override {
    if (message.role != role::kUser) {
      return {};
    }
    REPRISE_ASSIGN(const std::string content, question(message));
    if (content == "[]") {
      return {};
    }
    std::string inner;
    json::ObjectWriter(inner).field("role", "user").raw("content", content).close();
    return line("user", inner, cat(message.seq.value), message.created_at, is_injected(message));
  }

  Result<> answer(const Message& message, const CallResults& results) override {
    std::string content;
    json::ArrayWriter array(content);
    bool has_calls = false;
    for (const Block& block : message.blocks) {
      if (const auto* text = std::get_if<TextBlock>(&block); text && !text->text.empty()) {
        array.item();
        json::append_object(content, "type", "text", "text", text->text);
      } else if (const auto* thinking = std::get_if<ThinkingBlock>(&block); thinking != nullptr) {
        add_thinking(message, *thinking, content, array);
      } else if (const auto* call = std::get_if<ToolUseBlock>(&block); call != nullptr) {
        has_calls = true;
        array.item();
        json::ObjectWriter(content)
            .field("type", "tool_use")
            .field("id", call->id)
            .field("name", call->name)
            .raw("input", input_object(*call))
            .close();
      }
    }
    array.close();
    if (content == "[]") {
      return {};
    }
    REPRISE_TRY(line("assistant", answer_message(message, content, has_calls),
                     cat(message.seq.value), message.created_at, false));
    return has_calls ? result_line(message, results) : Result<>();
  }

 private:
  // Only thinking signed by the same provider is accepted.
  void add_thinking(const Message& message, const ThinkingBlock& thinking, std::string& content,
                    json::ArrayWriter& array) {
    if (message.provider != kSigner || thinking.signature.empty()) {
      job().losses.emplace("thinking of other providers");
      return;
    }
    array.item();
    json::append_object(content, "type", "thinking", "thinking", thinking.text, "signature",
                        thinking.signature);
  }

  Result<> line(std::string_view type, std::string_view message, std::string_view key, Time time,
                bool is_meta) {
    std::string uuid = derived_uuid(cat(session_, "#", key));
    std::string out;
    json::ObjectWriter object(out);
    object.text_or_null("parentUuid", parent_)
        .field("isSidechain", false)
        .field("userType", "external")
        .field("cwd", job().session.info.working_dir)
        .field("sessionId", session_)
        .field("version", kClaudeVersion)
        .field("gitBranch", "")
        .field("type", type)
        .raw("message", message);
    if (is_meta) {
      object.field("isMeta", true);
    }
    object.field("uuid", uuid).field("timestamp", iso_milliseconds(times_.next(time))).close();
    parent_ = std::move(uuid);
    return write(out + "\n");
  }

  Result<std::string> question(const Message& message) {
    return content_array(
        job(), message,
        [](std::string_view text) {
          return text.empty() ? "" : json::object_of("type", "text", "text", text);
        },
        [](const Media& media) {
          std::string out;
          json::ObjectWriter(out)
              .field("type", media.is_pdf ? "document" : "image")
              .raw("source", source_of(media))
              .close();
          return out;
        });
  }

  static std::string source_of(const Media& media) {
    std::string out;
    json::ObjectWriter object(out);
    if (media.base64.empty()) {
      object.field("type", "url").field("url", media.url);
    } else {
      object.field("type", "base64").field("media_type", media.type).field("data", media.base64);
    }
    object.close();
    return out;
  }

  std::string answer_message(const Message& message, std::string_view content,
                             bool has_calls) const {
    const Usage usage = message.usage.value_or(Usage{});
    std::string usage_json;
    json::ObjectWriter(usage_json)
        .field("input_tokens", usage.input.value - usage.cached.value - usage.cache_written.value)
        .field("cache_creation_input_tokens", usage.cache_written.value)
        .field("cache_read_input_tokens", usage.cached.value)
        .field("output_tokens", usage.output.value)
        .close();
    const std::string id = message.response_id.starts_with("msg_")
                               ? message.response_id
                               : cat("msg_", derived_hex(cat(session_, message.seq.value), 24));
    std::string out;
    json::ObjectWriter object(out);
    object.field("id", id)
        .field("type", "message")
        .field("role", "assistant")
        .field("model", message.model.empty() ? "unknown" : std::string_view(message.model))
        .raw("content", content);
    if (message.state == MessageState::complete) {
      object.field("stop_reason", has_calls ? "tool_use" : "end_turn");
    } else {
      object.null("stop_reason");
    }
    object.null("stop_sequence").raw("usage", usage_json).close();
    return out;
  }

  Result<> result_line(const Message& message, const CallResults& results) {
    std::string content;
    json::ArrayWriter array(content);
    Time last = message.created_at;
    REPRISE_TRY(each_outcome(message, results,
                             [&](const ToolUseBlock& call, const Outcome& result) -> Result<> {
                               last = std::max(last, result.at);
                               array.item();
                               json::ObjectWriter object(content);
                               object.field("tool_use_id", call.id)
                                   .field("type", "tool_result")
                                   .field("content", result.text);
                               if (result.is_error) {
                                 object.field("is_error", true);
                               }
                               object.close();
                               return {};
                             }));
    array.close();
    std::string inner;
    json::ObjectWriter(inner).field("role", "user").raw("content", content).close();
    return line("user", inner, cat(message.seq.value, "r"), last, false);
  }

  std::string session_;
  MonotonicTimes times_;
  std::string parent_;
};

}  // namespace

std::unique_ptr<Writer> make_claude(Job& job) {
  return std::make_unique<ClaudeWriter>(job);
}

}  // namespace reprise::exporting
