#include "source/crush/crush_message.h"

#include <algorithm>

#include "base/text.h"
#include "source/transcript.h"

namespace reprise::source::crush {
namespace {

constexpr std::string_view kCrush = "crush";

void add_binary(JsonView data, std::vector<Block>& blocks) {
  const std::string type = data["MIMEType"].text();
  if (type.starts_with("image/") || type == "application/pdf") {
    ImageBlock image = image_of(type, data["Data"].text());
    add_unknown_members(image.extra, kCrush, data, {"Data", "MIMEType"});
    blocks.emplace_back(std::move(image));
  } else {
    blocks.emplace_back(UnknownBlock{"binary", raw_of(data)});
  }
}

void add_tool_result(JsonView data, std::vector<Block>& blocks) {
  blocks.emplace_back(tool_result(
      data["tool_call_id"].text(), data["content"].text(), is_true(data["is_error"]),
      unknown_members(kCrush, data, {"tool_call_id", "content", "is_error", "data", "mime_type"})));
  const std::string type = data["mime_type"].text();
  if (type.starts_with("image/") && !data["data"].text().empty()) {
    blocks.emplace_back(image_of(type, data["data"].text()));
  }
}

void add_part(std::string_view type, JsonView data, JsonView part, std::vector<Block>& blocks) {
  if (type == "text") {
    if (std::string text = data["text"].text(); !text.empty()) {
      blocks.emplace_back(TextBlock{std::move(text), unknown_members(kCrush, data, {"text"})});
    }
  } else if (type == "reasoning") {
    blocks.emplace_back(ThinkingBlock{data["thinking"].text(), data["signature"].text(),
                                      unknown_members(kCrush, data, {"thinking", "signature"})});
  } else if (type == "tool_call") {
    blocks.emplace_back(ToolUseBlock{data["id"].text(), data["name"].text(),
                                     json_in(data["input"].text()),
                                     unknown_members(kCrush, data, {"id", "name", "input"})});
  } else if (type == "tool_result") {
    add_tool_result(data, blocks);
  } else if (type == "image_url") {
    blocks.emplace_back(image_at("image/png", data["url"].text()));
  } else if (type == "binary") {
    add_binary(data, blocks);
  } else if (type == "shell_command") {
    // A command that the user ran.
    blocks.emplace_back(TextBlock{cat("$ ", data["command"].text(), "\n", data["output"].text()),
                                  unknown_members(kCrush, data, {"command", "output"})});
  } else {
    blocks.emplace_back(UnknownBlock{std::string(type), raw_of(part)});
  }
}

bool is_cut_by(std::string_view reason) {
  return reason == "canceled" || reason == "error" || reason == "max_tokens" || reason.empty();
}

}  // namespace

Message message_of(std::string_view role, JsonView parts) {
  Message message{.role = std::string(role)};
  // A missing finish means that the program was killed during the answer.
  std::string reason;
  parts.each([&](JsonView part) {
    const auto [type_json, data] = part.members({"type", "data"});
    const std::string type = type_json.text();
    if (type == "finish") {
      reason = data["reason"].text();
      add_extra(message.extra, "crush_finish", raw_of(data));
    } else {
      add_part(type, data, part, message.blocks);
    }
  });
  if (role == role::kAssistant && is_cut_by(reason)) {
    message.state = MessageState::incomplete;
  }
  return message;
}

std::string question_of(std::string_view role, JsonView parts) {
  std::string text;
  if (role == role::kUser) {
    parts.each([&](JsonView part) {
      text = text.empty() && part["type"].text() == "text" ? part["data"]["text"].text() : text;
    });
  }
  return text;
}

}  // namespace reprise::source::crush
