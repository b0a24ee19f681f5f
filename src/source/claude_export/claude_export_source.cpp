#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "source/export_tool.h"
#include "source/kinds.h"
#include "source/transcript.h"
#include "source/words.h"

namespace reprise::source {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kClaudeExportName = "claude-export";
// The parent of a conversation's first message.
constexpr std::string_view kNoMessage = "00000000-0000-4000-8000-000000000000";

void add_content_block(JsonView block, std::vector<Block>& blocks) {
  const std::string type = block["type"].text();
  Extra extra;
  if (type == "text" || type == "voice_note") {
    add_unknown_members(extra, kClaudeExportName, block, {"type", "text"});
    const std::string text = (block["text"] ? block["text"] : block["transcript"]).text();
    if (!text.empty()) {
      blocks.emplace_back(TextBlock{text, std::move(extra)});
    }
  } else if (type == "thinking") {
    blocks.emplace_back(ThinkingBlock{
        block["thinking"].text(), block["signature"].text(),
        unknown_members(kClaudeExportName, block, {"type", "thinking", "signature"})});
  } else if (type == "tool_use") {
    blocks.emplace_back(
        ToolUseBlock{block["id"].text(), block["name"].text(), raw_of(block["input"]),
                     unknown_members(kClaudeExportName, block, {"type", "id", "name", "input"})});
  } else if (type == "tool_result") {
    add_unknown_members(extra, kClaudeExportName, block,
                        {"type", "tool_use_id", "content", "is_error"});
    std::vector<Block> beside;
    blocks.emplace_back(tool_result(block["tool_use_id"].text(),
                                    text_of_result(block["content"], beside, unknown_block),
                                    is_true(block["is_error"]), std::move(extra)));
    std::ranges::move(beside, std::back_inserter(blocks));
  } else {
    blocks.push_back(unknown_block(block));
  }
}

// The conversation has the extracted text of an attached file nowhere else.
void add_attachment(JsonView attachment, std::vector<Block>& blocks) {
  const std::string content = attachment["extracted_content"].text();
  if (content.empty()) {
    blocks.push_back(unknown_block(attachment));
    return;
  }
  blocks.emplace_back(
      TextBlock{content, unknown_members("attachment", attachment, {"extracted_content"})});
}

Message message_of_export(JsonView json) {
  Message message{
      .role = std::string(json["sender"].text() == "human" ? role::kUser : role::kAssistant),
      .created_at = sniffed_time(json["created_at"]).value_or(Time{})};
  json["attachments"].each(
      [&](JsonView attachment) { add_attachment(attachment, message.blocks); });
  const std::size_t attached = message.blocks.size();
  json["content"].each([&](JsonView block) { add_content_block(block, message.blocks); });
  if (message.blocks.size() == attached && !json["text"].text().empty()) {
    message.blocks.emplace_back(TextBlock{json["text"].text(), {}});
  }
  if (message.role == role::kAssistant) {
    message.provider = "anthropic";
    message.model = json["model"].text();
  }
  // "text" duplicates the content.
  add_unknown_members(message.extra, kClaudeExportName, json, {"content", "text", "attachments"});
  return message;
}

Session session_of_export(JsonView json) {
  Session session{
      .info = {.id = session_id_of(json["uuid"].text()), .state = SessionState::closed}};
  SessionInfo& info = session.info;
  info.title = title_by_tool(json["name"].text());
  info.provider = "anthropic";
  info.model = json["model"].text();
  info.created_at = sniffed_time(json["created_at"]).value_or(Time{});
  info.updated_at = sniffed_time(json["updated_at"]).value_or(info.created_at);
  add_unknown_members(session.extra, kClaudeExportName, json, {"chat_messages", "name", "account"});
  return session;
}

Result<std::shared_ptr<OpenSession>> open_claude_conversation(
    const std::shared_ptr<const std::string>& conversation,
    const std::shared_ptr<const Download>& /*download*/) {
  const JsonView json(*conversation);
  auto open = std::make_shared<OpenSession>(OpenSession{.session = session_of_export(json)});
  json["chat_messages"].each([&](JsonView message) {
    if (!message.is(json::Kind::object)) {
      return add_damage(open->report, {cat("session ", open->session.info.id.str()),
                                       "not a message", std::string(message.raw())});
    }
    Node node = node_in(*conversation, message);
    node.id = node_id(message["uuid"].text());
    const std::string parent = message["parent_message_uuid"].text();
    node.link = parent.empty() ? Link::previous : parent == kNoMessage ? Link::root : Link::named;
    node.parent = node_id(parent);
    open->tree.add(node, message.raw());
    std::string& title = open->session.info.title;
    if (title.empty() && message["sender"].text() == "human") {
      const std::string text = message["text"].text();
      title = title_of(text.empty() ? first_text(message["content"]) : text);
    }
  });
  if (const auto leaf = open->tree.find(node_id(json["current_leaf_message_uuid"].text()))) {
    open->tree.set_leaf(*leaf);
  }
  count_messages(*open);
  open->message = [conversation](std::span<const Node> nodes) -> Result<Message> {
    return message_of_export(json_at(*conversation, nodes.front()));
  };
  return open;
}

constexpr ExportForm kClaudeExport = {is_conversations_file, "chat_messages",
                                      open_claude_conversation};

}  // namespace

Result<bool> is_claude_export(const fs::path& location) {
  return is_export(location, kClaudeExport);
}

Result<std::unique_ptr<Source>> open_claude_export(const fs::path& location,
                                                   const StoreOptions& /*options*/) {
  return open_export(location, kClaudeExport);
}

}  // namespace reprise::source
