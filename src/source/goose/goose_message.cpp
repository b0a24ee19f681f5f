#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "source/goose/goose.h"
#include "source/transcript.h"

namespace reprise::source::goose {
namespace {

constexpr std::string_view kGoose = "goose";

// Parts of a result other than text.
Block block_beside(JsonView part) {
  return part["type"].text() == "image" ? image_of(part["mimeType"].text(), part["data"].text())
                                        : unknown_block(part);
}

void add_request(JsonView item, std::vector<Block>& blocks) {
  const JsonView call = item["toolCall"];
  const JsonView value = call["value"];
  Extra extra;
  add_unknown_members(extra, kGoose, item, {"type", "id", "toolCall"});
  if (call["error"]) {
    add_extra(extra, "error", raw_of(call["error"]));
  }
  blocks.emplace_back(ToolUseBlock{item["id"].text(), value["name"].text(),
                                   raw_of(value["arguments"]), std::move(extra)});
}

void add_response(JsonView item, std::vector<Block>& blocks) {
  const JsonView result = item["toolResult"];
  const JsonView value = result["value"];
  const bool is_list = value.is(json::Kind::array);  // in older versions
  std::vector<Block> beside;
  std::string text = text_of_result(is_list ? value : value["content"], beside, block_beside);
  Extra extra;
  add_unknown_members(extra, kGoose, item, {"type", "id", "toolResult"});
  if (!is_list) {
    add_unknown_members(extra, "value", value, {"content", "isError"});
  }
  const bool has_failed = result["status"].text() == "error" || is_true(value["isError"]);
  if (text.empty() && has_failed) {
    text = text_or_json(result["error"]);
  }
  blocks.emplace_back(
      tool_result(item["id"].text(), std::move(text), has_failed, std::move(extra)));
  std::ranges::move(beside, std::back_inserter(blocks));
}

void add_item(JsonView item, std::vector<Block>& blocks) {
  const std::string type = item["type"].text();
  Extra extra;
  if (type == "text") {
    blocks.emplace_back(
        TextBlock{item["text"].text(), unknown_members(kGoose, item, {"type", "text"})});
  } else if (type == "image") {
    blocks.emplace_back(image_of(item["mimeType"].text(), item["data"].text()));
  } else if (type == "thinking" || type == "reasoning") {
    add_unknown_members(extra, kGoose, item, {"type", "thinking", "text", "signature"});
    const JsonView text = item["thinking"] ? item["thinking"] : item["text"];
    blocks.emplace_back(ThinkingBlock{text.text(), item["signature"].text(), std::move(extra)});
  } else if (type == "toolRequest" || type == "frontendToolRequest") {
    add_request(item, blocks);
  } else if (type == "toolResponse") {
    add_response(item, blocks);
  } else {
    blocks.push_back(unknown_block(item));
  }
}

bool is_result(const Block& block) {
  return std::holds_alternative<ToolResultBlock>(block);
}

}  // namespace

bool is_injected_message(JsonView metadata) {
  return metadata["userVisible"].raw() == "false";
}

std::string title_of_session(std::string_view name, std::string_view description, bool is_set) {
  const bool is_placeholder = name == "CLI Session" && !is_set;
  return title_of(name.empty() || is_placeholder ? description : name);
}

Message message_of(std::string_view role, JsonView content, JsonView metadata) {
  Message message{.role = std::string(role)};
  content.each([&](JsonView item) { add_item(item, message.blocks); });
  if (!message.blocks.empty() && is_result(message.blocks.front()) &&
      std::ranges::none_of(message.blocks, [](const Block& block) {
        return std::holds_alternative<TextBlock>(block);
      })) {
    message.role = role::kTool;
  }
  if (is_injected_message(metadata)) {
    mark_injected(message);
  }
  if (metadata) {
    add_extra(message.extra, kGoose, raw_of(metadata));
  }
  return message;
}

std::string question_of(std::string_view role, JsonView content) {
  return role == role::kUser ? first_text(content) : "";
}

bool Repetitions::is_next(std::string_view role, JsonView content, JsonView metadata) {
  const bool is_visible = !is_injected_message(metadata);
  const bool is_for_agent = metadata["agentVisible"].raw() != "false";
  const bool is_after_summary = std::exchange(is_summary_, !is_visible && is_for_agent);
  std::string question = question_of(role, content);
  if (is_summary_ || question.empty()) {
    return false;
  }
  const bool is_repeated = is_after_summary && is_visible && is_visible_ && question == question_;
  question_ = std::move(question);
  is_visible_ = is_visible;
  return is_repeated;
}

void mark_repetition(const Node& node, Message& message) {
  if (node.is_injected && !is_injected(message)) {
    mark_injected(message);
  }
}

}  // namespace reprise::source::goose
