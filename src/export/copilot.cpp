// JSON lines for `copilot sessions import`.

#include "base/json_write.h"
#include "base/text.h"
#include "export/formats.h"
#include "export/paired.h"

namespace reprise::exporting {
namespace {

class CopilotWriter final : public PairedWriter {
 public:
  explicit CopilotWriter(Job& job) : PairedWriter(job), times_(job.session) {}

  Result<> begin() override {
    const SessionInfo& info = job().session.info;
    std::string out;
    json::ObjectWriter object(out);
    object.field("type", "session")
        .field("version", 1)
        .field("externalId", info.id.str())
        .field("createdAt", iso_milliseconds(times_.next({})));
    if (!info.title.empty()) {  // it rejects an empty one
      object.field("title", info.title);
    }
    if (!info.working_dir.empty()) {
      object.field("workingDirectory", info.working_dir);
    }
    object.close();
    return write(out + "\n");
  }

 protected:
  Result<> other(const Message& message) override {
    const bool has_words = message.role == role::kUser && !plain_text(message).empty();
    return has_words ? text_line(message) : Result<>();
  }

  Result<> answer(const Message& message, const CallResults& results) override {
    REPRISE_TRY(text_line(message));
    for (const Block& block : message.blocks) {
      if (const auto* call = std::get_if<ToolUseBlock>(&block); call != nullptr) {
        REPRISE_TRY(record("tool-call", call_id(message, *call), message.created_at,
                           [&](json::ObjectWriter& object) {
                             object.field("name", call->name).raw("arguments", input_object(*call));
                           }));
      }
    }
    for (const Block& block : message.blocks) {
      if (const auto* call = std::get_if<ToolUseBlock>(&block); call != nullptr) {
        REPRISE_TRY(result_line(message, *call, results));
      }
    }
    return {};
  }

 private:
  template <class Members>
  Result<> record(std::string_view type, std::string_view id, Time time, const Members& members) {
    std::string out;
    json::ObjectWriter object(out);
    object.field("type", type)
        .field("id", id)
        .field("timestamp", iso_milliseconds(times_.next(time)));
    members(object);
    object.close();
    return write(out + "\n");
  }

  // Unique in the file; ids from other tools may repeat.
  static std::string call_id(const Message& message, const ToolUseBlock& call) {
    return cat(message.seq.value, ":", call.id);
  }

  Result<> text_line(const Message& message) {
    return record("message", cat("m", message.seq.value), message.created_at,
                  [&](json::ObjectWriter& object) {
                    object.field("role", message.role)
                        .raw("content", cat(R"([{"type":"text","text":)",
                                            json::quoted(plain_text(message)), "}]"));
                    if (!message.model.empty()) {
                      object.field("model", message.model);
                    }
                  });
  }

  Result<> result_line(const Message& message, const ToolUseBlock& call,
                       const CallResults& results) {
    REPRISE_ASSIGN(const Outcome result, outcome(results, call, message.created_at));
    const std::string id = call_id(message, call);
    return record("tool-result", cat("r", id), result.at, [&](json::ObjectWriter& object) {
      object.field("toolCallId", id).field("success", !result.is_error);
      if (result.is_error) {
        object.raw("error", cat("{\"message\":", json::quoted(result.text), "}"));
      } else {
        object.field("content", result.text);
      }
    });
  }

  MonotonicTimes times_;
};

}  // namespace

std::unique_ptr<Writer> make_copilot(Job& job) {
  return std::make_unique<CopilotWriter>(job);
}

}  // namespace reprise::exporting
