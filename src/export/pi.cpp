// A session of pi: a tree of entries in JSON lines. Only one branch is written.

#include <algorithm>

#include "base/json_write.h"
#include "base/text.h"
#include "export/content.h"
#include "export/formats.h"
#include "export/names.h"
#include "export/paired.h"

namespace reprise::exporting {
namespace {

constexpr int kPiVersion = 3;
constexpr std::size_t kEntryIdDigits = 8;

// pi's name for a provider's API.
std::string_view api_of(std::string_view provider) {
  if (provider == "anthropic") {
    return "anthropic-messages";
  }
  return provider == "openai-responses" ? "openai-responses" : "openai-completions";
}

class PiWriter final : public PairedWriter {
 public:
  explicit PiWriter(Job& job) : PairedWriter(job), times_(job.session) {}

  Result<> begin() override {
    const Session& session = job().session;
    std::string out;
    json::ObjectWriter(out)
        .field("type", "session")
        .field("version", kPiVersion)
        .field("id", uuid_of(session))
        .field("timestamp", iso_milliseconds(times_.next({})))
        .field("cwd", session.info.working_dir)
        .close();
    REPRISE_TRY(write(out + "\n"));
    if (session.info.title.empty()) {
      return {};
    }
    return entry("session_info", {},
                 [&](json::ObjectWriter& object) { object.field("name", session.info.title); });
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
    return message_entry(message.created_at, [&](json::ObjectWriter& object) {
      object.field("role", "user").raw("content", content);
    });
  }

  Result<> answer(const Message& message, const CallResults& results) override {
    std::string content;
    json::ArrayWriter array(content);
    bool has_calls = false;
    for (const Block& block : message.blocks) {
      if (const auto* text = std::get_if<TextBlock>(&block); text != nullptr) {
        array.item();
        json::append_object(content, "type", "text", "text", text->text);
      } else if (const auto* thinking = std::get_if<ThinkingBlock>(&block); thinking != nullptr) {
        array.item();
        json::ObjectWriter object(content);
        object.field("type", "thinking").field("thinking", thinking->text);
        if (message.provider == "anthropic" && !thinking->signature.empty()) {
          object.field("thinkingSignature", thinking->signature);
        }
        object.close();
      } else if (const auto* call = std::get_if<ToolUseBlock>(&block); call != nullptr) {
        has_calls = true;
        array.item();
        json::ObjectWriter(content)
            .field("type", "toolCall")
            .field("id", call->id)
            .field("name", call->name)
            .raw("arguments", input_object(*call))
            .close();
      }
    }
    array.close();
    REPRISE_TRY(message_entry(message.created_at, [&](json::ObjectWriter& object) {
      add_answer(object, message, content, has_calls);
    }));
    return has_calls ? result_entries(message, results) : Result<>();
  }

 private:
  template <class Members>
  Result<> entry(std::string_view type, Time time, const Members& members) {
    const std::string id = hex_digits(++entries_, kEntryIdDigits);  // unique in the file
    std::string out;
    json::ObjectWriter object(out);
    object.field("type", type)
        .field("id", id)
        .text_or_null("parentId", parent_)
        .field("timestamp", iso_milliseconds(times_.next(time)));
    members(object);
    object.close();
    parent_ = id;
    return write(out + "\n");
  }

  template <class Members>
  Result<> message_entry(Time time, const Members& members) {
    std::string inner;
    json::ObjectWriter object(inner);
    members(object);
    object.field("timestamp", milliseconds(times_.next(time))).close();
    return entry("message", time, [&](json::ObjectWriter& line) { line.raw("message", inner); });
  }

  Result<std::string> question(const Message& message) {
    return content_array(
        job(), message,
        [](std::string_view text) { return json::object_of("type", "text", "text", text); },
        [this](const Media& media) -> std::string {
          if (!media.type.starts_with("image/") || media.base64.empty()) {
            job().losses.emplace("documents, and images that are only linked");
            return "";
          }
          return json::object_of("type", "image", "data", media.base64, "mimeType", media.type);
        });
  }

  // pi does not start without usage.
  static std::string usage_of(const Message& message) {
    const Usage usage = message.usage.value_or(Usage{});
    const std::string cost = usage.cost ? usage.cost->str() : "0";
    std::string costs;
    json::ObjectWriter(costs)
        .field("input", 0)
        .field("output", 0)
        .field("cacheRead", 0)
        .field("cacheWrite", 0)
        .raw("total", cost)
        .close();
    std::string out;
    json::ObjectWriter(out)
        .field("input", usage.input.value - usage.cached.value - usage.cache_written.value)
        .field("output", usage.output.value)
        .field("cacheRead", usage.cached.value)
        .field("cacheWrite", usage.cache_written.value)
        .field("totalTokens", (usage.input + usage.output).value)
        .raw("cost", costs)
        .close();
    return out;
  }

  static void add_answer(json::ObjectWriter& object, const Message& message,
                         std::string_view content, bool has_calls) {
    const bool is_cut = message.state == MessageState::incomplete;
    object.field("role", "assistant")
        .raw("content", content)
        .field("api", api_of(message.provider))
        .field("provider",
               message.provider.empty() ? "unknown" : std::string_view(message.provider))
        .field("model", message.model.empty() ? "unknown" : std::string_view(message.model))
        .raw("usage", usage_of(message))
        .field("stopReason", is_cut ? "aborted" : (has_calls ? "toolUse" : "stop"));
  }

  Result<> result_entries(const Message& message, const CallResults& results) {
    return each_outcome(message, results, [&](const ToolUseBlock& call, const Outcome& result) {
      const std::string text = json::object_of("type", "text", "text", result.text);
      return message_entry(result.at, [&](json::ObjectWriter& object) {
        object.field("role", "toolResult")
            .field("toolCallId", call.id)
            .field("toolName", call.name)
            .raw("content", cat("[", text, "]"))
            .field("isError", result.is_error);
      });
    });
  }

  MonotonicTimes times_;
  std::string parent_;
  std::uint32_t entries_ = 0;
};

}  // namespace

std::unique_ptr<Writer> make_pi(Job& job) {
  return std::make_unique<PiWriter>(job);
}

std::string pi_stem(const Session& session) {
  std::string time = iso_milliseconds(time_of(session));
  std::ranges::replace_if(time, [](char c) { return c == ':' || c == '.'; }, '-');
  return cat(time, "_", uuid_of(session));
}

}  // namespace reprise::exporting
