#include "source/copilot/copilot_import.h"

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "base/json_view.h"
#include "reprise/message.h"
#include "reprise/session.h"
#include "source/records.h"
#include "source/tree.h"
#include "source/values.h"

namespace reprise::source::copilot {
namespace {

constexpr std::string_view kMessage = "message";
constexpr std::string_view kCall = "tool-call";
constexpr std::string_view kResult = "tool-result";

void read_metadata(JsonView line, Transcript& into) {
  SessionInfo& info = into.session.info;
  note_time(info, line["createdAt"]);
  info.title = title_of(line["title"].text());
  info.working_dir = line["workingDirectory"].text();
}

std::string text_of_content(JsonView content) {
  std::string text = content.text();
  content.each([&](JsonView part) { text += part["text"].text(); });
  return text;
}

void add_line(JsonView line, Message& message) {
  const std::string type = line["type"].text();
  if (type == kMessage) {
    if (std::string text = text_of_content(line["content"]); !text.empty()) {
      message.blocks.emplace_back(TextBlock{std::move(text), {}});
    }
  } else if (type == kCall) {
    message.blocks.emplace_back(
        ToolUseBlock{line["id"].text(), line["name"].text(), raw_of(line["arguments"]), {}});
  } else {
    const std::string error = line["error"]["message"].text();
    message.blocks.emplace_back(tool_result(line["toolCallId"].text(),
                                            error.empty() ? text_or_json(line["content"]) : error,
                                            line["success"].raw() == "false"));
  }
}

}  // namespace

bool is_import_line(JsonView line) {
  return line["type"].text() == "session" && line["externalId"];
}

bool take_import_line(const Record& record, std::size_t part, Transcript& into) {
  const std::string type = record.json["type"].text();
  if (is_import_line(record.json)) {
    read_metadata(record.json, into);
    return true;
  }
  if (type != kMessage && type != kCall && type != kResult) {
    return false;
  }
  note_time(into.session.info, record.json["timestamp"]);
  Node node = node_at(record, part, record.json);
  node.id = node_id(record.json["id"].text());
  node.is_message = true;
  node.is_result = type == kResult;
  const auto last = into.tree.end();
  if (type == kCall && last) {
    node.group = into.tree.nodes()[*last].group;
  } else if (record.json["role"].text() == role::kAssistant) {
    node.group = node.id;
  }
  if (const std::string model = record.json["model"].text(); !model.empty()) {
    into.session.info.model = model;
  }
  const bool is_question = type == kMessage && record.json["role"].text() == role::kUser;
  if (is_question && into.session.info.title.empty()) {
    into.session.info.title = title_of(text_of_content(record.json["content"]));
  }
  into.tree.add(node, record.json.raw());
  return true;
}

Message message_of_import(std::span<const Piece> pieces) {
  const JsonView first = pieces.front().json;
  const std::string role = first["role"].text();
  Message message{.role = std::string(pieces.front().node.is_result ? role::kTool
                                      : role.empty()                ? role::kAssistant
                                                                    : std::string_view(role)),
                  .created_at = time_of(first["timestamp"]).value_or(Time{})};
  message.model = first["model"].text();
  for (const Piece& piece : pieces) {
    add_line(piece.json, message);
  }
  static constexpr std::array<std::string_view, 8> kKnown = {
      "type", "id", "timestamp", "role", "content", "model", "name", "arguments"};
  add_extra(message.extra, "copilot", members_without(first, kKnown));
  return message;
}

}  // namespace reprise::source::copilot
