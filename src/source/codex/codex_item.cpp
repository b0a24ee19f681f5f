#include "source/codex/codex_item.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <variant>

#include "base/json_scan.h"
#include "base/json_view.h"
#include "base/json_write.h"
#include "base/text.h"
#include "reprise/message.h"
#include "source/values.h"

namespace reprise::source::codex {
namespace {

constexpr std::string_view kCodex = "codex";
constexpr std::string_view kMetadata = "internal_chat_message_metadata_passthrough";

// Texts that the program inserts as user messages start with one of these.
constexpr std::string_view kProgramTexts[] = {"<environment_context>",
                                              "<user_instructions>",
                                              "# AGENTS.md instructions",
                                              "<turn_aborted>",
                                              "<skill>",
                                              "<permissions",
                                              "<subagent_notification>",
                                              "<user_shell_command>",
                                              "<INSTRUCTIONS>"};

bool is_one_of(std::string_view text, std::span<const std::string_view> values) {
  return std::ranges::find(values, text) != values.end();
}

constexpr std::string_view kCalls[] = {
    "function_call",         "custom_tool_call", "local_shell_call", "web_search_call",
    "image_generation_call", "tool_search_call", "tool_call"};
constexpr std::string_view kOutputs[] = {"function_call_output", "custom_tool_call_output",
                                         "tool_search_output", "tool_result"};

// The kinds of the parts of a message, if the program recorded them.
std::vector<std::string> part_kinds(JsonView item) {
  std::vector<std::string> kinds;
  item[kMetadata]["content_item_kinds"].each([&](JsonView kind) { kinds.push_back(kind.text()); });
  return kinds;
}

ImageBlock image_at(JsonView part) {
  const std::string url = part["image_url"].text();
  const std::size_t semicolon = url.find(';');
  const bool is_data = url.starts_with("data:") && semicolon != std::string::npos;
  return {.media_type = is_data ? url.substr(5, semicolon - 5) : "",
          .blob = std::nullopt,
          .url = url,
          .extra = extra_without(kCodex, part, {"type", "image_url"})};
}

// The program encloses each image in texts: <image name=[Image #1]> and </image>.
bool is_image_tag(std::span<const JsonView> parts, std::size_t at) {
  const auto is_image = [parts](std::size_t i) {
    return i < parts.size() && parts[i]["type"].text() == "input_image";
  };
  const std::string text = parts[at]["text"].text();
  return (text.starts_with("<image") && text.ends_with('>') && is_image(at + 1)) ||
         (text == "</image>" && is_image(at - 1));
}

void add_parts(JsonView item, std::vector<Block>& blocks) {
  const std::vector<std::string> kinds = part_kinds(item);
  const bool is_persons =
      std::ranges::any_of(kinds, [](const std::string& kind) { return kind.starts_with("user."); });
  if (item["content"].is(json::Kind::string)) {
    blocks.emplace_back(TextBlock{item["content"].text(), {}});
  }
  std::vector<JsonView> parts;
  item["content"].each([&parts](JsonView part) { parts.push_back(part); });
  for (std::size_t at = 0; at < parts.size(); ++at) {
    const JsonView part = parts[at];
    const std::string type = part["type"].text();
    const bool is_text = type == "input_text" || type == "output_text" || type == "text";
    const bool is_beside = (is_persons && at < kinds.size() && !kinds[at].starts_with("user.")) ||
                           is_image_tag(parts, at);
    if (is_text && !is_beside) {
      blocks.emplace_back(
          TextBlock{part["text"].text(), extra_without(kCodex, part, {"type", "text"})});
    } else if (type == "input_image") {
      blocks.emplace_back(image_at(part));
    } else {
      blocks.push_back(unknown_block(part));
    }
  }
}

// Calls of any kind: functions, custom tools with free text, the old shell.
void add_call(JsonView item, std::string_view type, std::vector<Block>& blocks) {
  ToolUseBlock use{
      .id = item["call_id"].text(), .name = item["name"].text(), .input = {}, .extra = {}};
  if (type == "function_call") {
    use.input = arguments_of(item["arguments"]);
  } else if (type == "custom_tool_call") {
    use.input = RawJson::string(item["input"].text());
  } else if (type == "local_shell_call") {
    use.name = "local_shell";
    use.input = raw_of(item["action"]);
  } else if (type == "tool_call") {
    use.input = raw_of(item["input"] ? item["input"] : item["arguments"]);
  } else {  // these have no separate output
    blocks.push_back(unknown_block(item));
    return;
  }
  use.extra =
      extra_without(kCodex, item, {"type", "call_id", "name", "arguments", "input", "action"});
  blocks.emplace_back(std::move(use));
}

void add_output(JsonView item, std::vector<Block>& blocks) {
  const JsonView output = item["output"];
  ToolResultBlock result =
      tool_result(item["call_id"].text(), output.text(), output["success"].raw() == "false",
                  extra_without(kCodex, item, {"type", "call_id", "output"}));
  std::vector<Block> beside;
  if (output.is(json::Kind::object)) {
    result.text = output["content"].text();
  }
  output.each([&](JsonView part) {
    if (part["type"].text() == "input_text") {
      result.text += cat(result.text.empty() ? "" : "\n", part["text"].text());
    } else if (part["type"].text() == "input_image") {
      beside.emplace_back(image_at(part));
    } else {
      beside.push_back(unknown_block(part));
    }
  });
  blocks.emplace_back(std::move(result));
  std::ranges::move(beside, std::back_inserter(blocks));
}

void add_reasoning(JsonView item, std::vector<Block>& blocks) {
  std::string text;
  for (const JsonView list : {item["summary"], item["content"]}) {
    list.each([&](JsonView part) { text += cat(text.empty() ? "" : "\n\n", part["text"].text()); });
    if (!text.empty()) {
      break;
    }
  }
  blocks.emplace_back(ThinkingBlock{
      text, item["encrypted_content"].text(),
      extra_without(kCodex, item, {"type", "summary", "content", "encrypted_content"})});
}

void add_item(JsonView item, std::vector<Block>& blocks) {
  const std::string type = item["type"].text();
  if (type == "message") {
    add_parts(item, blocks);
  } else if (type == "reasoning") {
    add_reasoning(item, blocks);
  } else if (is_one_of(type, kCalls)) {
    add_call(item, type, blocks);
  } else if (is_one_of(type, kOutputs)) {
    add_output(item, blocks);
  } else if (type == "user_message" || type == "agent_message" || type.empty()) {
    // An item without a type is a compaction.
    blocks.emplace_back(TextBlock{item["message"].text(), {}});
  } else {
    blocks.push_back(unknown_block(item));
  }
}

}  // namespace

JsonView item_of(JsonView record) {
  const JsonView payload = record["payload"];
  return payload ? payload : record;
}

ItemKind kind_of_item(JsonView item) {
  const std::string type = item["type"].text();
  if (type == "message") {
    const std::string role = item["role"].text();
    return role == "user"        ? ItemKind::person
           : role == "assistant" ? ItemKind::model
                                 : ItemKind::program;
  }
  if (type == "reasoning" || is_one_of(type, kCalls)) {
    return ItemKind::model;
  }
  return is_one_of(type, kOutputs) ? ItemKind::result : ItemKind::none;
}

std::string person_text(JsonView item) {
  std::vector<Block> blocks;
  add_parts(item, blocks);
  std::string text;
  for (const Block& block : blocks) {
    if (const auto* const part = std::get_if<TextBlock>(&block); part != nullptr) {
      text += cat(text.empty() ? "" : "\n", part->text);
    }
  }
  return text;
}

bool names_author(JsonView item) {
  return !part_kinds(item).empty() || is_program_text(item);
}

bool is_program_text(JsonView item) {
  const std::vector<std::string> kinds = part_kinds(item);
  if (!kinds.empty()) {
    return std::ranges::none_of(kinds,
                                [](const std::string& kind) { return kind.starts_with("user."); });
  }
  const std::string text = person_text(item);
  return std::ranges::any_of(
      kProgramTexts, [&](std::string_view begin) { return trimmed(text).starts_with(begin); });
}

Usage usage_of(JsonView counts, std::string_view response) {
  Usage usage;
  usage.input = {counts["input_tokens"].count()};
  usage.output = {counts["output_tokens"].count()};
  usage.cached = {counts["cached_input_tokens"].count()};
  usage.cache_written = {counts["cache_write_input_tokens"].count()};
  usage.reasoning = {counts["reasoning_output_tokens"].count()};
  usage.request_id = response;
  return usage;
}

Message message_of(std::span<const Piece> pieces, const std::string& provider) {
  static constexpr std::array<std::string_view, 1> kPayload = {"payload"};
  const JsonView first = item_of(pieces.front().json);
  const ItemKind kind = kind_of_item(first);
  const std::string type = first["type"].text();
  const bool is_answer = kind == ItemKind::model || type == "agent_message";
  Message message{.role = std::string(is_answer                   ? role::kAssistant
                                      : kind == ItemKind::result  ? role::kTool
                                      : kind == ItemKind::program ? role::kSystem
                                                                  : role::kUser),
                  .created_at = time_of(pieces.front().json["timestamp"]).value_or(Time{})};
  std::string lines = "[";
  for (const Piece& piece : pieces) {
    add_item(item_of(piece.json), message.blocks);
    if ((piece.node.detail & kCutBit) != 0) {
      message.state = MessageState::incomplete;
    }
    if (const auto remaining = members_without(piece.json, kPayload);
        remaining && piece.json["payload"]) {
      lines += cat(lines.size() > 1 ? "," : "", remaining->text());
    }
  }
  if (pieces.front().json["type"].text() == "compacted") {
    mark_summary(message);
  }
  if (pieces.front().node.is_injected) {
    mark_injected(message);
  } else if (is_answer) {
    message.provider = provider;
  }
  add_extra(message.extra, kCodex, json::take(lines += "]"));
  return message;
}

}  // namespace reprise::source::codex
