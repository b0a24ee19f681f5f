// A chat recording of Gemini CLI in JSON lines. An answer has its calls with their results.

#include <algorithm>

#include "base/encode.h"
#include "base/json_write.h"
#include "base/text.h"
#include "export/content.h"
#include "export/formats.h"
#include "export/names.h"
#include "export/paired.h"

namespace reprise::exporting {
namespace {

constexpr std::size_t kIdDigits = 8;       // of the id, in a file's name
constexpr std::size_t kMinuteLength = 16;  // "2026-01-18T20:15"

class GeminiWriter final : public PairedWriter {
 public:
  explicit GeminiWriter(Job& job) : PairedWriter(job), times_(job.session) {}

  Result<> begin() override {
    const Session& session = job().session;
    const std::string started = iso_milliseconds(times_.next({}));
    REPRISE_ASSIGN(const BlobHash project, sha256(session.info.working_dir));
    std::string out;
    json::ObjectWriter object(out);
    object.field("sessionId", uuid_of(session))
        .field("projectHash", project.str())
        .field("startTime", started)
        .field("lastUpdated", iso_milliseconds(std::max(time_of(session), session.info.updated_at)))
        .field("kind", "main");
    if (!session.info.title.empty()) {
      object.field("summary", session.info.title);
    }
    object.close();
    return write(out + "\n");
  }

 protected:
  Result<> other(const Message& message) override {
    if (message.role != role::kUser) {
      return {};
    }
    REPRISE_ASSIGN(const std::string parts, parts_of(message));
    return parts == "[]" ? Result<>() : line(message, "user", [&](json::ObjectWriter& object) {
      object.raw("content", parts);
    });
  }

  Result<> answer(const Message& message, const CallResults& results) override {
    std::string thoughts;
    std::string calls;
    json::ArrayWriter thought(thoughts);
    json::ArrayWriter call_item(calls);
    const Time at = times_.next(message.created_at);
    for (const Block& block : message.blocks) {
      if (const auto* thinking = std::get_if<ThinkingBlock>(&block); thinking != nullptr) {
        thought.item();
        json::append_object(thoughts, "subject", "", "description", thinking->text, "timestamp",
                            iso_milliseconds(at));
      } else if (const auto* call = std::get_if<ToolUseBlock>(&block); call != nullptr) {
        REPRISE_ASSIGN(const Outcome result, outcome(results, *call, at));
        call_item.item();
        append_call(calls, *call, result);
      }
    }
    thought.close();
    call_item.close();
    return line(message, "gemini", [&](json::ObjectWriter& object) {
      object.field("content", plain_text(message)).raw("thoughts", thoughts);
      if (calls != "[]") {
        object.raw("toolCalls", calls);
      }
      object.raw("tokens", message.usage ? tokens(*message.usage) : "null");
      if (!message.model.empty()) {
        object.field("model", message.model);
      }
    });
  }

 private:
  template <class Members>
  Result<> line(const Message& message, std::string_view type, const Members& members) {
    std::string out;
    json::ObjectWriter object(out);
    object.field("id", derived_uuid(cat(job().session.info.id.str(), "#", message.seq.value)))
        .field("timestamp", iso_milliseconds(times_.next(message.created_at)))
        .field("type", type);
    members(object);
    object.close();
    return write(out + "\n");
  }

  Result<std::string> parts_of(const Message& message) {
    return content_array(
        job(), message, [](std::string_view text) { return json::object_of("text", text); },
        [this](const Media& media) -> std::string {
          if (media.base64.empty()) {
            job().losses.emplace("images that are only linked");
            return "";
          }
          const std::string data = json::object_of("mimeType", media.type, "data", media.base64);
          return cat("{\"inlineData\":", data, "}");
        });
  }

  void append_call(std::string& out, const ToolUseBlock& call, const Outcome& result) {
    const std::string response = json::object_of(result.is_error ? "error" : "output", result.text);
    std::string function;
    json::ObjectWriter(function)
        .field("id", call.id)
        .field("name", call.name)
        .raw("response", response)
        .close();
    json::ObjectWriter(out)
        .field("id", call.id)
        .field("name", call.name)
        .raw("args", input_object(call))
        .raw("result", cat("[{\"functionResponse\":", function, "}]"))
        .field("status", result.is_error ? "error" : "success")
        .field("timestamp", iso_milliseconds(times_.next(result.at)))
        .field("resultDisplay", result.text)
        .close();
  }

  // "output" excludes thoughts.
  static std::string tokens(const Usage& usage) {
    std::string out;
    json::ObjectWriter(out)
        .field("input", usage.input.value)
        .field("output", usage.output.value - usage.reasoning.value)
        .field("cached", usage.cached.value)
        .field("thoughts", usage.reasoning.value)
        .field("tool", 0)
        .field("total", (usage.input + usage.output).value)
        .close();
    return out;
  }

  MonotonicTimes times_;
};

}  // namespace

std::unique_ptr<Writer> make_gemini(Job& job) {
  return std::make_unique<GeminiWriter>(job);
}

std::string gemini_stem(const Session& session) {
  std::string minute = iso_milliseconds(time_of(session)).substr(0, kMinuteLength);
  std::ranges::replace(minute, ':', '-');
  return cat("session-", minute, "-", uuid_of(session).substr(0, kIdDigits));
}

}  // namespace reprise::exporting
