#include "source/claude/claude_record.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/json_scan.h"
#include "base/json_view.h"
#include "base/json_write.h"
#include "base/text.h"
#include "reprise/message.h"
#include "source/values.h"
#include "source/words.h"

namespace reprise::source::claude {
namespace {

constexpr std::string_view kClaude = "claude";
constexpr std::string_view kProvider = "anthropic";
constexpr std::string_view kSynthetic = "<synthetic>";

// Texts that the program inserts as user messages start with one of these.
constexpr std::string_view kProgramTexts[] = {
    "<command-name>",         "<command-message>",
    "<local-command-stdout>", "<local-command-stderr>",
    "<task-notification>",    "<bash-stdout>",
    "[Request interrupted",   "This session is being continued from a previous conversation"};

bool begins_as_program_text(std::string_view text) {
  return std::ranges::any_of(kProgramTexts, [begin = trimmed(text)](std::string_view start) {
    return begin.starts_with(start);
  });
}

bool is_program_text(std::string_view text) {
  return begins_as_program_text(text) || words_of_person(text).empty();
}

// Parts of a result other than text.
Block block_beside(JsonView part) {
  const JsonView source = part["source"];
  return part["type"].text() == "image" && source["type"].text() == "base64"
             ? image_of(source["media_type"].text(), source["data"].text())
             : unknown_block(part);
}

// Resumed files repeat pieces of an answer under other ids.
bool has_call(std::span<const Block> blocks, std::string_view id) {
  return !id.empty() && std::ranges::any_of(blocks, [id](const Block& block) {
    const auto* const call = std::get_if<ToolUseBlock>(&block);
    return call != nullptr && call->id == id;
  });
}

void add_block(JsonView block, std::vector<Block>& blocks) {
  const std::string type = block["type"].text();
  const JsonView source = block["source"];
  if (type == "text") {
    blocks.emplace_back(
        TextBlock{block["text"].text(), extra_without(kClaude, block, {"type", "text"})});
  } else if (type == "thinking") {
    blocks.emplace_back(
        ThinkingBlock{block["thinking"].text(), block["signature"].text(),
                      extra_without(kClaude, block, {"type", "thinking", "signature"})});
  } else if (type == "tool_use") {
    if (has_call(blocks, block["id"].text())) {
      return;
    }
    blocks.emplace_back(
        ToolUseBlock{block["id"].text(), block["name"].text(), raw_of(block["input"]),
                     extra_without(kClaude, block, {"type", "id", "name", "input"})});
  } else if (type == "tool_result") {
    std::vector<Block> beside;
    blocks.emplace_back(tool_result(block["tool_use_id"].text(),
                                    text_of_result(block["content"], beside, block_beside),
                                    is_true(block["is_error"])));
    std::ranges::move(beside, std::back_inserter(blocks));
  } else if ((type == "image" || type == "document") && source["type"].text() == "base64") {
    blocks.emplace_back(image_of(source["media_type"].text(), source["data"].text()));
  } else if (type == "image" && source["type"].text() == "url") {
    blocks.emplace_back(ImageBlock{
        .media_type = "", .blob = std::nullopt, .url = source["url"].text(), .extra = {}});
  } else {
    blocks.push_back(unknown_block(block));
  }
}

// The first versions wrote each call and result as a line of its own.
bool add_old_line(const Line& line, std::vector<Block>& blocks) {
  const JsonView record = line.record;
  if (line.type == "tool_use") {
    blocks.emplace_back(
        ToolUseBlock{record["id"].text(), record["name"].text(), raw_of(record["input"]), {}});
  } else if (line.type == "tool_result") {
    const JsonView output = record["output"] ? record["output"] : record["content"];
    blocks.emplace_back(tool_result(record["tool_use_id"].text(), text_or_json(output),
                                    is_true(record["is_error"])));
  } else {
    return false;
  }
  return true;
}

// Appends the record without its content, which is in the blocks.
void append_rest(JsonView record, std::string& out) {
  static constexpr std::array<std::string_view, 1> kContent = {"content"};
  json::ObjectWriter object(out);
  record.each_member([&](std::string_view name, JsonView value) {
    if (name == "message") {
      const auto remaining = members_without(value, kContent);
      object.raw(name, remaining ? std::string_view(remaining->text()) : "{}");
    } else {
      object.raw(name, value.raw());
    }
  });
  object.close();
}

// What the program put beside a person's words, or in their place.
void mark_program_texts(const Piece& first, Message& message) {
  if (first.node.is_injected) {
    mark_injected(message);
  } else if (message.role == role::kUser) {
    for (Block& block : message.blocks) {
      auto* const text = std::get_if<TextBlock>(&block);
      if (text != nullptr && begins_as_program_text(text->text)) {
        mark_injected(*text);
      }
    }
  }
}

}  // namespace

Line::Line(JsonView line) : record(line) {
  const auto [kind, id_of_line, before, logical, at, cwd, by, sidechain, meta, summary, error,
              aborted, message] =
      line.members({"type", "uuid", "parentUuid", "logicalParentUuid", "timestamp", "cwd",
                    "requestId", "isSidechain", "isMeta", "isCompactSummary", "isApiErrorMessage",
                    "isAbortedMidStream", "message"});
  type = kind.text();
  uuid = id_of_line;
  parent = before;
  logical_parent = logical;
  time = at;
  folder = cwd;
  request = by;
  is_sidechain = is_true(sidechain);
  is_meta = is_true(meta) || is_true(summary) || is_true(error);
  is_aborted = is_true(aborted);
  const auto [its_id, its_model, its_content, its_usage, its_reason] =
      message.members({"id", "model", "content", "usage", "stop_reason"});
  id = its_id;
  model = its_model;
  content = its_content;
  usage = its_usage;
  stop_reason = its_reason;
  if (type == "attachment") {
    take_queued(line["attachment"]);
  }
}

void Line::take_queued(JsonView attachment) {
  const auto [kind, mode, origin, prompt, meta] =
      attachment.members({"type", "commandMode", "origin", "prompt", "isMeta"});
  const std::string by = origin["kind"].text();
  if (kind.text() == "queued_command" && (!mode || mode.text() == "prompt") &&
      (by.empty() || by == "human") && !is_true(meta)) {
    type = "user";
    content = prompt;
  }
}

bool is_injected_line(const Line& line) {
  if (line.is_meta) {
    return true;
  }
  if (line.type == "assistant") {
    return line.model.text() == kSynthetic;
  }
  // Most texts begin with another character, and need not be decoded.
  const std::string_view raw = line.content.raw();
  const auto may_begin = [raw](std::string_view start) { return start.front() == raw[1]; };
  if (raw.size() > 1 && raw.front() == '"' && is_ascii_alnum(raw[1]) &&
      std::ranges::none_of(kProgramTexts, may_begin)) {
    return false;
  }
  bool has_text = !line.content.text().empty();
  bool is_persons = has_text && !is_program_text(line.content.text());
  line.content.each([&](JsonView block) {
    const std::string type = block["type"].text();
    const bool is_text = type == "text";
    has_text = has_text || is_text;
    is_persons = is_persons || type == "image" || type == "document" ||
                 (is_text && !is_program_text(block["text"].text()));
  });
  return has_text && !is_persons;
}

bool is_result_line(const Line& line) {
  if (line.type == "tool_result") {
    return true;
  }
  bool has_results = false;
  bool has_else = false;
  line.content.each([&](JsonView block) {
    (block["type"].text() == "tool_result" ? has_results : has_else) = true;
  });
  return has_results && !has_else;
}

Usage usage_of(const Line& line) {
  const auto [input, output, cached, written, details] =
      line.usage.members({"input_tokens", "output_tokens", "cache_read_input_tokens",
                          "cache_creation_input_tokens", "output_tokens_details"});
  Usage usage;
  usage.cached = {cached.count()};
  usage.cache_written = {written.count()};
  usage.input = TokenCount{input.count()} + usage.cached + usage.cache_written;
  usage.output = {output.count()};
  usage.reasoning = {details["thinking_tokens"].count()};
  const std::string request = line.request.text();
  usage.request_id = cat(line.id.text(), request.empty() ? "" : ":", request);
  return usage;
}

Message message_of(std::span<const Piece> pieces) {
  std::vector<Line> parsed;
  parsed.reserve(pieces.size());
  for (const Piece& piece : pieces) {
    parsed.emplace_back(piece.json);
  }
  const Line& first = parsed.front();
  Message message{.role = std::string(pieces.front().node.is_result ? role::kTool
                                      : first.type == "user"        ? role::kUser
                                                                    : role::kAssistant),
                  .created_at = time_of(first.time).value_or(Time{})};
  std::string lines = "[";
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const Line& line = parsed[i];
    if (!add_old_line(line, message.blocks)) {
      if (line.content.is(json::Kind::string)) {
        message.blocks.emplace_back(TextBlock{line.content.text(), {}});
      }
      line.content.each([&](JsonView block) { add_block(block, message.blocks); });
    }
    if (pieces[i].node.usage != 0) {
      message.usage = usage_of(line);  // of the last piece
    }
    if (line.is_aborted || pieces[i].node.detail == kInterrupted ||
        line.stop_reason.text() == "max_tokens") {
      message.state = MessageState::incomplete;
    }
    lines += lines.size() > 1 ? "," : "";
    append_rest(line.record, lines);
  }
  mark_program_texts(pieces.front(), message);
  if (is_true(pieces.front().json["isCompactSummary"])) {
    mark_summary(message);
  }
  if (message.role == role::kAssistant && !pieces.front().node.is_injected) {
    message.provider = kProvider;
    message.model = first.model.text();
    message.response_id = first.id.text();
  }
  add_extra(message.extra, kClaude, json::take(lines += "]"));
  return message;
}

}  // namespace reprise::source::claude
