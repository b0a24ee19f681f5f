// JSON lines of chat messages for training models, one session per line:
//
//   {"messages":[{"role":"user","content":"…"},…],"tools":[…]}

#include <set>

#include "base/json_write.h"
#include "base/text.h"
#include "export/content.h"
#include "export/formats.h"
#include "export/paired.h"

namespace reprise::exporting {
namespace {

class TrainingWriter final : public PairedWriter {
 public:
  using PairedWriter::PairedWriter;

  Result<> begin() override {
    REPRISE_TRY(write("{\"messages\":["));
    const std::string& prompt = job().session.system_prompt;
    return prompt.empty() ? Result<>() : item(json::object_of("role", "system", "content", prompt));
  }

  Result<> end() override {
    REPRISE_TRY(PairedWriter::end());
    std::string out = "]";
    if (!tools_.empty()) {
      out += ",\"tools\":";
      json::ArrayWriter array(out);
      for (const std::string& name : tools_) {
        array.item();
        out += cat(R"({"type":"function","function":{"name":)", json::quoted(name),
                   R"(,"parameters":{"type":"object","properties":{}}}})");
      }
      array.close();
    }
    return write(out + "}\n");
  }

 protected:
  Result<> other(const Message& message) override {
    const std::string_view name = message.role == role::kSystem ? "system" : "user";
    REPRISE_ASSIGN(const std::string parts, content(message));
    if (parts.empty()) {
      return {};
    }
    std::string out;
    json::ObjectWriter(out).field("role", name).raw("content", parts).close();
    return item(out);
  }

  Result<> answer(const Message& message, const CallResults& results) override {
    std::string calls;
    json::ArrayWriter array(calls);
    for (const Block& block : message.blocks) {
      if (const auto* call = std::get_if<ToolUseBlock>(&block); call != nullptr) {
        array.item();
        append_call(calls, *call);
        tools_.insert(call->name);
      }
    }
    array.close();
    const std::string text = plain_text(message);
    if (text.empty() && calls == "[]") {
      return {};
    }
    std::string out;
    json::ObjectWriter object(out);
    object.field("role", "assistant").text_or_null("content", text);
    if (calls != "[]") {
      object.raw("tool_calls", calls);
    }
    object.close();
    REPRISE_TRY(item(out));
    return answer_results(message, results);
  }

 private:
  static void append_call(std::string& out, const ToolUseBlock& call) {
    const std::string function = json::object_of("name", call.name, "arguments", input_text(call));
    json::ObjectWriter(out)
        .field("id", call.id)
        .field("type", "function")
        .raw("function", function)
        .close();
  }

  Result<> answer_results(const Message& message, const CallResults& results) {
    return each_outcome(message, results, [&](const ToolUseBlock& call, const Outcome& result) {
      return item(json::object_of("role", "tool", "tool_call_id", call.id, "content", result.text));
    });
  }

  // A string, or an array of parts if there are images; "" if there is no content.
  Result<std::string> content(const Message& message) {
    bool has_images = false;
    REPRISE_ASSIGN(
        const std::string parts,
        content_array(
            job(), message,
            [](std::string_view text) { return json::object_of("type", "text", "text", text); },
            [&has_images](const Media& media) {
              has_images = has_images || !media.is_pdf;
              return media.is_pdf ? ""
                                  : cat(R"({"type":"image_url","image_url":{"url":)",
                                        json::quoted(media.data_url()), "}}");
            }));
    const std::string text = plain_text(message);
    return has_images ? parts : (text.empty() ? "" : json::quoted(text));
  }

  Result<> item(std::string_view json) {
    REPRISE_TRY(write(is_first_ ? "" : ","));
    is_first_ = false;
    return write(json);
  }

  bool is_first_ = true;
  std::set<std::string> tools_;
};

}  // namespace

std::unique_ptr<Writer> make_training(Job& job) {
  return std::make_unique<TrainingWriter>(job);
}

}  // namespace reprise::exporting
