// The input of `opencode import`: {"info":…,"messages":[{"info":…,"parts":[…]},…]}.

#include <algorithm>

#include "base/json_write.h"
#include "base/text.h"
#include "export/content.h"
#include "export/formats.h"
#include "export/names.h"
#include "export/paired.h"

namespace reprise::exporting {
namespace {

constexpr std::string_view kOpencodeVersion = "1.18.33";  // of the format
constexpr std::string_view kAgent = "build";              // exists in every installation

// Generates ids: a prefix such as "msg_" and 26 characters, of which 12 are increasing digits.
class Ids {
 public:
  explicit Ids(const Session& session)
      : seed_(session.info.id.str()),
        next_(static_cast<std::uint64_t>(milliseconds(time_of(session))) << 12U) {}

  std::string session() const { return cat("ses_", derived_hex(seed_, 26)); }
  std::string next(std::string_view prefix) {
    const std::string digits = hex_digits(++next_, 12);
    return cat(prefix, "_", digits, derived_hex(cat(seed_, digits), 14));
  }

 private:
  std::string seed_;
  std::uint64_t next_;
};

class OpencodeWriter final : public PairedWriter {
 public:
  explicit OpencodeWriter(Job& job)
      : PairedWriter(job), ids_(job.session), session_(ids_.session()), times_(job.session) {}

  Result<> begin() override {
    const SessionInfo& info = job().session.info;
    const std::int64_t created = milliseconds(times_.next({}));
    const std::int64_t updated = std::max(created, milliseconds(info.updated_at));
    std::string out;
    json::ObjectWriter(out)
        .field("id", session_)
        .field("slug", file_stem(job().session))
        .field("projectID", "global")
        .field("directory", info.working_dir)
        .field("title", info.title.empty() ? "(no title)" : std::string_view(info.title))
        .field("version", kOpencodeVersion)
        .raw("time", json::object_of("created", created, "updated", updated))
        .close();
    return write(cat("{\"info\":", out, ",\"messages\":["));
  }

  Result<> end() override {
    REPRISE_TRY(PairedWriter::end());
    return write("]}\n");
  }

 protected:
  Result<> other(const Message& message) override {
    const SessionInfo& info = job().session.info;
    question_ = ids_.next("msg");
    const std::int64_t created = milliseconds(times_.next(message.created_at));
    const std::string model = json::object_of(
        "providerID", info.provider.empty() ? "unknown" : std::string_view(info.provider),
        "modelID", info.model.empty() ? "unknown" : std::string_view(info.model));
    std::string out;
    json::ObjectWriter(out)
        .field("id", question_)
        .field("sessionID", session_)
        .field("role", "user")
        .raw("time", cat("{\"created\":", created, "}"))
        .field("agent", kAgent)
        .raw("model", model)
        .close();
    const bool is_synthetic = message.role != role::kUser || is_injected(message);
    REPRISE_ASSIGN(const std::string parts, question_parts(message, is_synthetic));
    return item(out, parts);
  }

  Result<> answer(const Message& message, const CallResults& results) override {
    if (question_.empty()) {  // an answer must have a parent question
      REPRISE_TRY(
          other(Message{.role = std::string(role::kUser), .created_at = message.created_at}));
    }
    const std::string id = ids_.next("msg");
    const Time created = times_.next(message.created_at);
    Time ended = created;
    std::string parts;
    json::ArrayWriter array(parts);
    bool has_calls = false;
    for (const Block& block : message.blocks) {
      if (const auto* text = std::get_if<TextBlock>(&block); text != nullptr) {
        array.item();
        part(parts, id, "text").field("text", text->text).close();
      } else if (const auto* thinking = std::get_if<ThinkingBlock>(&block); thinking != nullptr) {
        array.item();
        part(parts, id, "reasoning")
            .field("text", thinking->text)
            .raw("time",
                 json::object_of("start", milliseconds(created), "end", milliseconds(created)))
            .close();
      } else if (const auto* call = std::get_if<ToolUseBlock>(&block); call != nullptr) {
        has_calls = true;
        REPRISE_ASSIGN(const Outcome result, outcome(results, *call, created));
        ended = times_.next(result.at);
        array.item();
        part(parts, id, "tool")
            .field("callID", call->id)
            .field("tool", call->name)
            .raw("state", state(*call, result, created, ended))
            .close();
      }
    }
    array.close();
    return item(answer_info(message, id, created, ended, has_calls), parts);
  }

 private:
  json::ObjectWriter part(std::string& out, std::string_view message, std::string_view type) {
    json::ObjectWriter object(out);
    object.field("id", ids_.next("prt"))
        .field("sessionID", session_)
        .field("messageID", message)
        .field("type", type);
    return object;
  }

  Result<std::string> question_parts(const Message& message, bool is_synthetic) {
    return content_array(
        job(), message,
        [&](std::string_view text) {
          std::string out;
          json::ObjectWriter object = part(out, question_, "text");
          object.field("text", text);
          if (is_synthetic) {
            object.field("synthetic", true);
          }
          object.close();
          return out;
        },
        [this](const Media& media) {
          std::string out;
          part(out, question_, "file")
              .field("mime", media.type)
              .field("filename",
                     media.name.empty() ? cat("image.", ending_of(media.type)) : media.name)
              .field("url", media.data_url())
              .close();
          return out;
        });
  }

  static std::string state(const ToolUseBlock& call, const Outcome& result, Time begin, Time end) {
    std::string out;
    json::ObjectWriter object(out);
    object.field("status", result.is_error ? "error" : "completed")
        .raw("input", input_object(call));
    if (result.is_error) {
      object.field("error", result.text);
    } else {
      object.field("output", result.text).field("title", call.name).raw("metadata", "{}");
    }
    object.raw("time", json::object_of("start", milliseconds(begin), "end", milliseconds(end)));
    object.close();
    return out;
  }

  static std::string tokens(const Usage& usage) {
    // "input" excludes cached tokens, "output" excludes reasoning.
    return cat(R"({"input":)", usage.input.value - usage.cached.value - usage.cache_written.value,
               R"(,"output":)", usage.output.value - usage.reasoning.value, R"(,"reasoning":)",
               usage.reasoning.value, R"(,"cache":{"read":)", usage.cached.value, R"(,"write":)",
               usage.cache_written.value, "}}");
  }

  std::string answer_info(const Message& message, std::string_view id, Time created, Time ended,
                          bool has_calls) {
    const SessionInfo& info = job().session.info;
    const std::string& model = message.model.empty() ? info.model : message.model;
    const std::string& provider = message.provider.empty() ? info.provider : message.provider;
    const Usage usage = message.usage.value_or(Usage{});
    const std::string path = json::object_of("cwd", info.working_dir, "root", info.working_dir);
    std::string out;
    json::ObjectWriter object(out);
    object.field("id", id)
        .field("sessionID", session_)
        .field("role", "assistant")
        .field("parentID", question_)
        .field("modelID", model.empty() ? "unknown" : std::string_view(model))
        .field("providerID", provider.empty() ? "unknown" : std::string_view(provider))
        .field("mode", kAgent)
        .field("agent", kAgent)
        .raw("path", path)
        .raw("cost", usage.cost ? usage.cost->str() : "0")
        .raw("tokens", tokens(usage));
    if (message.state == MessageState::complete) {
      object
          .raw("time",
               json::object_of("created", milliseconds(created), "completed", milliseconds(ended)))
          .field("finish", has_calls ? "tool-calls" : "stop");
    } else {
      object.raw("time", cat("{\"created\":", milliseconds(created), "}"))
          .raw("error", R"({"name":"MessageAbortedError","data":{"message":"interrupted"}})");
    }
    object.close();
    return out;
  }

  Result<> item(std::string_view info, std::string_view parts) {
    const std::string_view comma = is_first_ ? "" : ",";
    is_first_ = false;
    return write(cat(comma, "{\"info\":", info, ",\"parts\":", parts, "}"));
  }

  Ids ids_;
  std::string session_;
  MonotonicTimes times_;
  std::string question_;
  bool is_first_ = true;
};

}  // namespace

std::unique_ptr<Writer> make_opencode(Job& job) {
  return std::make_unique<OpencodeWriter>(job);
}

}  // namespace reprise::exporting
