#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "source/document_tool.h"
#include "source/kinds.h"
#include "source/transcript.h"
#include "source/words.h"

namespace reprise::source {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCline = "cline";
constexpr std::string_view kMessagesSuffix = ".messages.json";
// The extension for editors has a folder for each task.
constexpr std::string_view kTaskMessages = "api_conversation_history.json";
constexpr std::string_view kTaskMetadata = "history_item.json";
constexpr std::string_view kWrappers[] = {"user_input", "task", "feedback", "answer",
                                          "user_message"};
constexpr std::string_view kResumption = "[TASK RESUMPTION]";
constexpr std::string_view kCutOff = "Your previous response was cut off";

// The user's text without the program's wrapper.
std::string unwrapped(std::string_view text) {
  const std::string_view inner = trimmed(text);
  const std::size_t open = inner.find('>');
  for (const std::string_view name : kWrappers) {
    const std::string end = cat("</", name, ">");
    const bool is_it =
        inner.starts_with(cat("<", name, ">")) || inner.starts_with(cat("<", name, " "));
    if (is_it && inner.ends_with(end) && open != std::string_view::npos) {
      return std::string(trimmed(inner.substr(open + 1, inner.size() - open - 1 - end.size())));
    }
  }
  return std::string(text);
}

// The extension for editors wrote results as texts: "[read_file for 'a'] Result:", then the result.
void mark_results(Message& message) {
  bool is_result = false;
  for (Block& block : message.blocks) {
    auto* const text = std::get_if<TextBlock>(&block);
    if (text == nullptr || message.role != role::kUser) {
      continue;
    }
    const std::string_view begin = trimmed(text->text);
    const std::string_view line = begin.substr(0, begin.find('\n'));
    const bool is_head = begin.starts_with('[') && line.contains("] Result:");
    if (is_head || is_result || begin.starts_with(kResumption)) {
      mark_injected(*text);
    }
    is_result = is_head && line == begin;
  }
}

Block image_or_unknown(JsonView block) {
  const JsonView source = block["source"];
  return block["type"].text() == "image" && source["type"].text() == "base64"
             ? image_of(source["media_type"].text(), source["data"].text())
             : unknown_block(block);
}

// Accepts a string, a list of strings, or a list of texts, {query, result, success, error}, images
// and other blocks, which are added to `attachments`.
std::string text_of_results(JsonView content, bool& has_failed, std::vector<Block>& attachments) {
  std::string text = content.text();
  content.each([&](JsonView part) {
    if (const std::string type = part["type"].text(); !type.empty() && type != "text") {
      attachments.push_back(image_or_unknown(part));
      return;
    }
    for (const JsonView words : {part["text"] ? part["text"] : part["result"], part["error"]}) {
      const std::string piece = text_or_json(words);
      text += cat(text.empty() || piece.empty() ? "" : "\n", piece);
    }
    has_failed = has_failed || part["success"].raw() == "false";
  });
  return text;
}

void add_text(std::string_view role, std::string_view text, std::vector<Block>& blocks) {
  TextBlock block{role == role::kUser ? unwrapped(text) : std::string(text), {}};
  if (block.text != text) {
    block.extra.push_back({"original", RawJson::string(text)});
  }
  blocks.emplace_back(std::move(block));
}

void add_cline_block(std::string_view role, JsonView block, std::vector<Block>& blocks) {
  const std::string type = block["type"].text();
  if (type == "text") {
    add_text(role, block["text"].text(), blocks);
  } else if (type == "thinking") {
    blocks.emplace_back(
        ThinkingBlock{block["thinking"].text(), block["signature"].text(),
                      unknown_members(kCline, block, {"type", "thinking", "signature"})});
  } else if (type == "tool_use") {
    blocks.emplace_back(
        ToolUseBlock{block["id"].text(), block["name"].text(), raw_of(block["input"]),
                     unknown_members(kCline, block, {"type", "id", "name", "input"})});
  } else if (type == "tool_result") {
    bool has_failed = is_true(block["is_error"]);
    std::vector<Block> attachments;
    std::string text = text_of_results(block["content"], has_failed, attachments);
    blocks.emplace_back(tool_result(block["tool_use_id"].text(), std::move(text), has_failed));
    std::ranges::move(attachments, std::back_inserter(blocks));
  } else {
    blocks.push_back(image_or_unknown(block));
  }
}

bool is_injected_cline(JsonView message) {
  const JsonView metadata = message["metadata"];
  return is_true(metadata["displayOnly"]) || metadata["userRunSpan"].raw() == "0" ||
         (message["role"].text() == role::kUser &&
          trimmed(unwrapped(first_text(message["content"]))).starts_with(kCutOff));
}

std::optional<Usage> usage_of_metrics(JsonView metrics) {
  const auto first = [&](std::string_view a, std::string_view b) {
    return metrics[a] ? metrics[a].count() : metrics[b].count();
  };
  Usage usage;
  usage.input = {first("inputTokens", "tokensIn")};
  usage.output = {first("outputTokens", "tokensOut")};
  usage.cached = {first("cacheReadTokens", "cacheReads")};
  usage.cache_written = {first("cacheWriteTokens", "cacheWrites")};
  usage.cost = cost_of(metrics["cost"] ? metrics["cost"] : metrics["totalCost"]);
  if (!has_usage(usage)) {
    return std::nullopt;
  }
  usage.price_source = usage.cost ? kCline : "";
  return usage;
}

std::string model_of(JsonView message) {
  const JsonView info = message["modelInfo"];
  return (info["id"] ? info["id"] : info["modelId"]).text();
}
std::string provider_of(JsonView message) {
  const JsonView info = message["modelInfo"];
  return (info["provider"] ? info["provider"] : info["providerId"]).text();
}

bool has_only_results(JsonView content) {
  bool has_results = false;
  bool has_others = false;
  content.each([&](JsonView block) {
    (block["type"].text() == "tool_result" ? has_results : has_others) = true;
  });
  return has_results && !has_others;
}

Message message_of_cline(JsonView json) {
  Message message{.role = json["role"].text(),
                  .created_at = sniffed_time(json["ts"]).value_or(Time{})};
  if (!json["content"].text().empty()) {
    add_text(message.role, json["content"].text(), message.blocks);
  }
  json["content"].each(
      [&](JsonView block) { add_cline_block(message.role, block, message.blocks); });
  if (message.role == role::kUser && has_only_results(json["content"])) {
    message.role = role::kTool;
  }
  mark_results(message);
  if (is_injected_cline(json)) {
    mark_injected(message);
  } else if (message.role == role::kAssistant) {
    message.model = model_of(json);
    message.provider = provider_of(json);
  }
  add_unknown_members(message.extra, kCline, json, {"content"});
  return message;
}

bool is_task(const fs::path& file) {
  return file.filename() == kTaskMessages;
}

SessionId cline_id(const fs::path& file) {
  std::string name = file.filename().native();
  if (is_task(file)) {
    return session_id_of(file.parent_path().filename().native());
  }
  if (name.ends_with(kMessagesSuffix)) {
    name.resize(name.size() - kMessagesSuffix.size());
  }
  return session_id_of(name);
}

// The file with the session's metadata.
std::vector<fs::path> cline_sidecar_files(const fs::path& messages) {
  if (is_task(messages)) {
    return {messages.parent_path() / kTaskMetadata};
  }
  std::string name = messages.native();
  if (!name.ends_with(kMessagesSuffix)) {
    return {};
  }
  name.replace(name.size() - kMessagesSuffix.size(), kMessagesSuffix.size(), ".json");
  return {name};
}

// Reads that file, which may be missing.
Result<> take_meta(const fs::path& messages, Session& session, ReadReport& report) {
  const fs::path file = cline_sidecar_files(messages).front();
  REPRISE_ASSIGN(const std::string text, read_sibling(file, kDocumentBytesMax, report));
  if (text.empty()) {
    return {};
  }
  if (!is_json_object(text)) {
    add_damage(report, {file.native(), "not a JSON object", ""});
    return {};
  }
  const JsonView json(text);
  for (const JsonView title : {json["metadata"]["title"], json["prompt"], json["task"]}) {
    session.info.title =
        session.info.title.empty() ? title_by_tool(unwrapped(title.text())) : session.info.title;
  }
  session.info.working_dir = (json["cwd"] ? json["cwd"] : json["workspace"]).text();
  if (const auto usage = usage_of_metrics(json["metadata"]["usage"])) {
    session.usage = *usage;
  }
  add_extra(session.extra, kCline, raw_of(json));
  return {};
}

void take_message(JsonView message, std::string_view text, OpenSession& open) {
  if (!message.is(json::Kind::object)) {
    return add_damage(open.report, {"messages", "not a message", std::string(message.raw())});
  }
  Node node = node_in(text, message);
  node.id = node_id(message["id"].text());
  node.is_injected = is_injected_cline(message);
  node.usage = note_usage(open.usages, usage_of_metrics(message["metrics"]));
  open.tree.add(node, message.raw());
  SessionInfo& info = open.session.info;
  if (const auto time = sniffed_time(message["ts"])) {
    info.created_at = open.tree.nodes().size() == 1 ? *time : info.created_at;
    info.updated_at = *time;
  }
  if (std::string model = model_of(message); !model.empty()) {
    info.model = std::move(model);
    info.provider = provider_of(message);
  }
  if (info.title.empty() && message["role"].text() == role::kUser && !node.is_injected) {
    info.title = title_of(unwrapped(first_words(message["content"])));
  }
}

// The list of a task's messages as an object.
Result<std::shared_ptr<const std::string>> read_task(const fs::path& file, ReadReport& report) {
  REPRISE_ASSIGN(const auto list, read_document(file));
  std::string text = cat(R"({"messages":)", *list, "}");
  if (!is_json_object(text)) {
    text = intact_beginning(text);
    if (JsonView(text)["messages"].raw().size() <= 2) {
      return fail(Code::corrupt, "not a list of messages");
    }
    add_damage(report, {file.native(), std::string(kCutDocument), ""});
  }
  return std::make_shared<const std::string>(std::move(text));
}

Result<std::shared_ptr<OpenSession>> open_cline_file(const fs::path& file) {
  ReadReport report;
  REPRISE_ASSIGN(const auto text, is_task(file) ? read_task(file, report)
                                                : read_json_document(file, "messages", report));
  const JsonView json(*text);
  REPRISE_ASSIGN(Session session, session_of_file(cline_id(file), file));
  if (const auto time = sniffed_time(std::string_view(session.info.id.str()));
      is_task(file) && time) {
    session.info.created_at = *time;
  }
  auto open = std::make_shared<OpenSession>(OpenSession{.session = std::move(session)});
  open->report = std::move(report);
  if (!cline_sidecar_files(file).empty()) {
    REPRISE_TRY(take_meta(file, open->session, open->report));
  }
  open->session.system_prompt = json["system_prompt"].text();
  if (const std::string parent = json["origin"]["parentThreadId"].text(); !parent.empty()) {
    open->is_child = true;
    note_parent(open->session, parent);
  }
  json["messages"].each([&](JsonView message) { take_message(message, *text, *open); });
  count_messages(*open);
  open->message = [text](std::span<const Node> nodes) -> Result<Message> {
    return message_of_cline(json_at(*text, nodes.front()));
  };
  return open;
}

std::vector<fs::path> cline_files(const fs::path& location, ReadReport& report) {
  const auto is_messages = [](const fs::path& file) {
    return file.native().ends_with(kMessagesSuffix) || is_task(file);
  };
  if (!has_folder(location, report)) {
    return is_messages(location) ? std::vector{location} : std::vector<fs::path>();
  }
  std::vector<fs::path> files;
  for (const fs::path& below : {location / "data" / "sessions", location / "sessions",
                                location / "data" / "tasks", location / "tasks"}) {
    if (has_folder(below, report)) {
      std::ranges::move(files_below(below, 1, is_messages, report), std::back_inserter(files));
    }
  }
  return files.empty() ? files_below(location, 1, is_messages, report) : files;
}

constexpr DocumentForm kClineForm = {"cline", cline_files, cline_id, open_cline_file,
                                     cline_sidecar_files};

}  // namespace

Result<bool> is_cline(const fs::path& location) {
  return has_documents(location, kClineForm);
}

Result<std::unique_ptr<Source>> open_cline(const fs::path& location, const StoreOptions& options) {
  REPRISE_TRY(check_exists(location));
  return open_documents(location, kClineForm, options);
}

}  // namespace reprise::source
