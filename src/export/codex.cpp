// A rollout of Codex: what the model sees as response items, what the user sees as events.

#include <algorithm>

#include "base/json_write.h"
#include "base/text.h"
#include "export/content.h"
#include "export/formats.h"
#include "export/names.h"
#include "export/paired.h"
#include "store/usage_sum.h"

namespace reprise::exporting {
namespace {

constexpr std::string_view kCodexVersion = "0.169.0";  // written to the file

class CodexWriter final : public PairedWriter {
 public:
  explicit CodexWriter(Job& job) : PairedWriter(job), times_(job.session) {}

  Result<> begin() override {
    const Session& session = job().session;
    now_ = times_.next({});
    REPRISE_TRY(line("session_meta",
                     json::object_of("id", uuid_of(session), "timestamp", iso_milliseconds(now_),
                                     "cwd", session.info.working_dir, "originator", "reprise",
                                     "cli_version", kCodexVersion, "source", "cli")));
    if (session.system_prompt.empty()) {
      return {};
    }
    return text_item("developer", "input_text", session.system_prompt);
  }

 protected:
  Result<> other(const Message& message) override {
    now_ = times_.next(message.created_at);
    if (message.role != role::kUser) {
      return text_item("developer", "input_text", plain_text(message));
    }
    REPRISE_ASSIGN(const Parts parts, parts_of(message));
    if (parts.content == "[]") {
      return {};
    }
    std::string item;
    json::ObjectWriter(item)
        .field("type", "message")
        .field("role", "user")
        .raw("content", parts.content)
        .close();
    REPRISE_TRY(line("response_item", item));
    if (is_injected(message)) {
      return {};
    }
    std::string event;
    json::ObjectWriter(event)
        .field("type", "user_message")
        .field("message", plain_text(message))
        .raw("images", json::array_of(parts.images))
        .raw("local_images", "[]")
        .raw("text_elements", "[]")
        .close();
    return line("event_msg", event);
  }

  Result<> answer(const Message& message, const CallResults& results) override {
    now_ = times_.next(message.created_at);
    REPRISE_TRY(model_of_turn(message));
    for (const Block& block : message.blocks) {
      if (const auto* thinking = std::get_if<ThinkingBlock>(&block); thinking != nullptr) {
        REPRISE_TRY(
            line("event_msg", json::object_of("type", "agent_reasoning", "text", thinking->text)));
      } else if (const auto* text = std::get_if<TextBlock>(&block);
                 text != nullptr && !text->text.empty()) {
        REPRISE_TRY(text_item("assistant", "output_text", text->text));
        REPRISE_TRY(
            line("event_msg", json::object_of("type", "agent_message", "message", text->text)));
      } else if (const auto* call = std::get_if<ToolUseBlock>(&block); call != nullptr) {
        REPRISE_TRY(line("response_item",
                         json::object_of("type", "function_call", "name", call->name, "arguments",
                                         input_text(*call), "call_id", call->id)));
      }
    }
    REPRISE_TRY(
        each_outcome(message, results, [&](const ToolUseBlock& call, const Outcome& result) {
          now_ = times_.next(result.at);
          return line("response_item", json::object_of("type", "function_call_output", "call_id",
                                                       call.id, "output", result.text));
        }));
    return usage(message);
  }

 private:
  Result<> line(std::string_view type, std::string_view payload) {
    std::string out;
    json::ObjectWriter(out)
        .field("timestamp", iso_milliseconds(now_))
        .field("type", type)
        .raw("payload", payload)
        .close();
    return write(out + "\n");
  }

  Result<> text_item(std::string_view role, std::string_view type, std::string_view text) {
    const std::string content = json::object_of("type", type, "text", text);
    std::string item;
    json::ObjectWriter(item)
        .field("type", "message")
        .field("role", role)
        .raw("content", cat("[", content, "]"))
        .close();
    return line("response_item", item);
  }

  struct Parts {
    std::string content;
    std::vector<std::string> images;
  };
  Result<Parts> parts_of(const Message& message) {
    Parts parts;
    REPRISE_ASSIGN(parts.content, content_array(
                                      job(), message,
                                      [](std::string_view text) {
                                        return json::object_of("type", "input_text", "text", text);
                                      },
                                      [&parts](const Media& media) -> std::string {
                                        if (media.is_pdf) {
                                          return "";
                                        }
                                        parts.images.push_back(media.data_url());
                                        return json::object_of("type", "input_image", "image_url",
                                                               parts.images.back());
                                      }));
    return parts;
  }

  // Writes the model that answers from here on, if it changes.
  Result<> model_of_turn(const Message& message) {
    if (message.model.empty() || message.model == model_) {
      return {};
    }
    model_ = message.model;
    std::string out;
    json::ObjectWriter(out)
        .field("cwd", job().session.info.working_dir)
        .field("approval_policy", "on-request")
        .raw("sandbox_policy", R"({"type":"read-only"})")
        .field("model", model_)
        .field("summary", "auto")
        .close();
    return line("turn_context", out);
  }

  static std::string tokens(const Usage& usage) {
    std::string out;
    json::ObjectWriter(out)
        .field("input_tokens", usage.input.value)
        .field("cached_input_tokens", usage.cached.value)
        .field("output_tokens", usage.output.value)
        .field("reasoning_output_tokens", usage.reasoning.value)
        .field("total_tokens", (usage.input + usage.output).value)
        .close();
    return out;
  }

  Result<> usage(const Message& message) {
    if (!message.usage) {
      return {};
    }
    store::count_usage(sum_, counted_, message);
    return line("event_msg", cat(R"({"type":"token_count","info":{"total_token_usage":)",
                                 tokens(sum_), R"(,"last_token_usage":)", tokens(*message.usage),
                                 R"(,"model_context_window":null},"rate_limits":null})"));
  }

  MonotonicTimes times_;
  Time now_;
  std::string model_;
  Usage sum_;
  store::CountedRequests counted_;
};

}  // namespace

std::unique_ptr<Writer> make_codex(Job& job) {
  return std::make_unique<CodexWriter>(job);
}

// The time in the file's name has no colons.
std::string codex_stem(const Session& session) {
  std::string time = iso_milliseconds(time_of(session)).substr(0, 19);
  std::ranges::replace(time, ':', '-');
  return cat("rollout-", time, "-", uuid_of(session));
}

}  // namespace reprise::exporting
