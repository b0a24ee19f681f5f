#include "source/pi/pi_record.h"

#include <array>

#include "base/json_scan.h"
#include "base/text.h"

namespace reprise::source::pi {
namespace {

void add_block(JsonView block, std::vector<Block>& blocks) {
  const std::string type = block["type"].text();
  if (type == "text") {
    blocks.emplace_back(TextBlock{block["text"].text(), extra_without(block, {"type", "text"})});
  } else if (type == "thinking") {
    blocks.emplace_back(
        ThinkingBlock{block["thinking"].text(), block["thinkingSignature"].text(),
                      extra_without(block, {"type", "thinking", "thinkingSignature"})});
  } else if (type == "toolCall") {
    blocks.emplace_back(ToolUseBlock{block["id"].text(), block["name"].text(),
                                     raw_of(block["arguments"]),
                                     extra_without(block, {"type", "id", "name", "arguments"})});
  } else if (type == "image") {
    blocks.emplace_back(image_of(block["mimeType"].text(), block["data"].text()));
  } else {
    blocks.push_back(unknown_block(block));
  }
}

void add_content(JsonView content, std::vector<Block>& blocks) {
  if (content.is(json::Kind::string)) {
    blocks.emplace_back(TextBlock{content.text(), {}});
  }
  content.each([&](JsonView block) { add_block(block, blocks); });
}

void add_result(JsonView message, std::vector<Block>& blocks) {
  blocks.emplace_back(tool_result(message["toolCallId"].text(), text_of(message["content"]),
                                  is_true(message["isError"])));
  message["content"].each([&](JsonView block) {
    if (block["type"].text() != "text") {
      add_block(block, blocks);
    }
  });
}

std::string_view role_of(std::string_view role) {
  return role == "assistant" ? role::kAssistant : role == "toolResult" ? role::kTool : role::kUser;
}

// The entry without the members that the message has.
std::optional<RawJson> unknown_members(JsonView entry) {
  static constexpr std::array<std::string_view, 2> kKnown = {"message", "summary"};
  return members_without(entry, kKnown);
}

}  // namespace

std::string text_of(JsonView content) {
  std::string text = content.text();
  content.each([&](JsonView block) {
    if (block["type"].text() == "text") {
      text += cat(text.empty() ? "" : "\n", block["text"].text());
    }
  });
  return text;
}

bool is_message_entry(JsonView entry) {
  const std::string type = entry["type"].text();
  return type == "message" || type == "custom_message" || type == "compaction" ||
         type == "branch_summary";
}

bool is_injected_entry(JsonView entry) {
  const std::string role = entry["message"]["role"].text();
  return entry["type"].text() != "message" ||
         (role != "user" && role != "assistant" && role != "toolResult");
}

Usage usage_of(JsonView entry) {
  const JsonView message = entry["message"];
  const JsonView used = message["usage"];
  Usage usage;
  usage.cached = {used["cacheRead"].count()};
  usage.cache_written = {used["cacheWrite"].count()};
  usage.input = TokenCount{used["input"].count()} + usage.cached + usage.cache_written;
  usage.output = {used["output"].count()};
  usage.cost = Money::parse(used["cost"]["total"].raw());
  usage.price_source = usage.cost ? "pi" : "";
  // The first versions had no ids.
  for (const JsonView name : {message["responseId"], entry["id"], entry["timestamp"]}) {
    if (usage.request_id.empty()) {
      usage.request_id = name.text();
    }
  }
  return usage;
}

Message message_of(JsonView entry, bool has_usage) {
  const JsonView inner = entry["message"];
  const std::string role = inner["role"].text();
  Message message{
      .role = std::string(role_of(role)),
      .created_at =
          time_of(entry["timestamp"]).value_or(time_of(inner["timestamp"]).value_or(Time{}))};
  if (role == "toolResult") {
    add_result(inner, message.blocks);
  } else if (role == "bashExecution") {
    message.blocks.emplace_back(
        TextBlock{cat("$ ", inner["command"].text(), "\n", inner["output"].text()), {}});
  } else if (entry["summary"]) {
    message.blocks.emplace_back(TextBlock{entry["summary"].text(), {}});
  } else {
    add_content(inner ? inner["content"] : entry["content"], message.blocks);
  }
  if (message.role == role::kAssistant) {
    message.provider = inner["provider"].text();
    message.model = inner["model"].text();
    message.response_id = inner["responseId"].text();
    const std::string stop = inner["stopReason"].text();
    message.state =
        stop == "aborted" || stop == "error" ? MessageState::incomplete : MessageState::complete;
    if (has_usage) {
      message.usage = usage_of(entry);
    }
  }
  if (is_injected_entry(entry)) {
    mark_injected(message);
  }
  add_extra(message.extra, "pi", unknown_members(entry));
  static constexpr std::array<std::string_view, 7> kKnown = {
      "role", "content", "provider", "model", "responseId", "command", "output"};
  add_extra(message.extra, "pi_message", members_without(inner, kKnown));
  return message;
}

}  // namespace reprise::source::pi
