#include "source/claude/claude_record.h"

#include <algorithm>
#include <array>

#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/text.h"

namespace reprise::source::claude {
namespace {

constexpr std::string_view kProvider = "anthropic";
constexpr std::string_view kSynthetic = "<synthetic>";

// What the program says in the person's name begins so.
constexpr std::string_view kProgramTexts[] = {
    "<command-name>",    "<command-message>",   "<local-command-stdout>", "<local-command-stderr>",
    "<system-reminder>", "<task-notification>", "<bash-stdout>",          "[Request interrupted"};

// The text of a result, whose content is a string or blocks; images in it are blocks beside it.
std::string result_text(JsonView content, std::vector<Block>& beside) {
  std::string text = content.text();
  content.each([&](JsonView part) {
    const JsonView source = part["source"];
    if (part["type"].text() == "text") {
      text += cat(text.empty() ? "" : "\n", part["text"].text());
    } else if (part["type"].text() == "image" && source["type"].text() == "base64") {
      beside.emplace_back(image_of(source["media_type"].text(), source["data"].text()));
    } else {
      beside.emplace_back(UnknownBlock{part["type"].text(), raw_of(part)});
    }
  });
  return text;
}

void add_block(JsonView block, std::vector<Block>& blocks) {
  const std::string type = block["type"].text();
  const JsonView source = block["source"];
  if (type == "text") {
    blocks.emplace_back(TextBlock{block["text"].text(), extra_without(block, {"type", "text"})});
  } else if (type == "thinking") {
    blocks.emplace_back(ThinkingBlock{block["thinking"].text(), block["signature"].text(),
                                      extra_without(block, {"type", "thinking", "signature"})});
  } else if (type == "tool_use") {
    blocks.emplace_back(ToolUseBlock{block["id"].text(), block["name"].text(),
                                     raw_of(block["input"]),
                                     extra_without(block, {"type", "id", "name", "input"})});
  } else if (type == "tool_result") {
    std::vector<Block> beside;
    ToolResultBlock result{.tool_use_id = block["tool_use_id"].text(),
                           .text = result_text(block["content"], beside),
                           .is_error = block["is_error"].raw() == "true",
                           .blob = std::nullopt,
                           .extra = {}};
    blocks.emplace_back(std::move(result));
    std::ranges::move(beside, std::back_inserter(blocks));
  } else if ((type == "image" || type == "document") && source["type"].text() == "base64") {
    blocks.emplace_back(image_of(source["media_type"].text(), source["data"].text()));
  } else {
    blocks.emplace_back(UnknownBlock{type, raw_of(block)});
  }
}

// Lines of the first versions: a call or a result by itself.
bool add_old_line(JsonView record, std::vector<Block>& blocks) {
  const std::string type = record["type"].text();
  if (type == "tool_use") {
    blocks.emplace_back(
        ToolUseBlock{record["id"].text(), record["name"].text(), raw_of(record["input"]), {}});
  } else if (type == "tool_result") {
    const JsonView output = record["output"] ? record["output"] : record["content"];
    ToolResultBlock result{
        .tool_use_id = record["tool_use_id"].text(),
        .text = output.is(json::Kind::string) ? output.text() : std::string(output.raw()),
        .is_error = record["is_error"].raw() == "true",
        .blob = std::nullopt,
        .extra = {}};
    blocks.emplace_back(std::move(result));
  } else {
    return false;
  }
  return true;
}

// The line without the content, which the blocks have.
void append_rest(JsonView record, std::string& out) {
  static constexpr std::array<std::string_view, 1> kContent = {"content"};
  json::ObjectWriter object(out);
  json::Scanner scanner(record.raw());
  (void)scanner.object([&](std::string_view name) {  // the text is valid
    std::string_view value;
    const bool good = scanner.raw(value);
    if (good && name == "message") {
      const auto rest = members_without(JsonView(value), kContent);
      object.raw(name, rest ? std::string_view(rest->text()) : "{}");
    } else if (good) {
      object.raw(name, value);
    }
    return good;
  });
  object.close();
}

}  // namespace

std::string text_of(JsonView content) {
  std::string text = content.text();
  content.each([&](JsonView block) {
    if (text.empty() && block["type"].text() == "text") {
      text = block["text"].text();
    }
  });
  return text;
}

bool is_injected_line(JsonView record) {
  const JsonView message = record["message"];
  if (record["type"].text() == "assistant") {
    return message["model"].text() == kSynthetic || record["isApiErrorMessage"].raw() == "true";
  }
  if (record["isMeta"].raw() == "true" || record["isCompactSummary"].raw() == "true") {
    return true;
  }
  const std::string text = text_of(message["content"]);
  return std::ranges::any_of(
      kProgramTexts, [&](std::string_view begin) { return trimmed(text).starts_with(begin); });
}

bool is_result_line(JsonView record) {
  if (record["type"].text() == "tool_result") {
    return true;
  }
  bool has_results = false;
  bool has_else = false;
  record["message"]["content"].each([&](JsonView block) {
    (block["type"].text() == "tool_result" ? has_results : has_else) = true;
  });
  return has_results && !has_else;
}

Usage usage_of(JsonView message, std::string_view request) {
  const JsonView used = message["usage"];
  Usage usage;
  usage.cached = {used["cache_read_input_tokens"].count()};
  usage.cache_written = {used["cache_creation_input_tokens"].count()};
  usage.input = TokenCount{used["input_tokens"].count()} + usage.cached + usage.cache_written;
  usage.output = {used["output_tokens"].count()};
  usage.reasoning = {used["output_tokens_details"]["thinking_tokens"].count()};
  usage.request_id = cat(message["id"].text(), request.empty() ? "" : ":", request);
  return usage;
}

Message message_of(std::span<const Piece> pieces) {
  const JsonView first = pieces.front().json;
  const std::string type = first["type"].text();
  Message message{.role = std::string(is_result_line(first) ? role::kTool
                                      : type == "user"      ? role::kUser
                                                            : role::kAssistant),
                  .created_at = time_of(first["timestamp"]).value_or(Time{})};
  std::string lines = "[";
  for (const Piece& piece : pieces) {
    const JsonView inner = piece.json["message"];
    if (!add_old_line(piece.json, message.blocks)) {
      if (inner["content"].is(json::Kind::string)) {
        message.blocks.emplace_back(TextBlock{inner["content"].text(), {}});
      }
      inner["content"].each([&](JsonView block) { add_block(block, message.blocks); });
    }
    if (type == "assistant" && piece.node.usage != 0) {
      Usage usage = usage_of(inner, piece.json["requestId"].text());
      if (!message.usage || message.usage->output <= usage.output) {
        message.usage = std::move(usage);
      }
    }
    if (piece.json["isAbortedMidStream"].raw() == "true") {
      message.state = MessageState::incomplete;
    }
    lines += lines.size() > 1 ? "," : "";
    append_rest(piece.json, lines);
  }
  if (is_injected_line(first)) {
    mark_injected(message);
  } else if (message.role == role::kAssistant) {
    message.provider = kProvider;
    message.model = first["message"]["model"].text();
    message.response_id = first["message"]["id"].text();
  }
  add_extra(message.extra, "claude", json::take(lines += "]"));
  return message;
}

}  // namespace reprise::source::claude
