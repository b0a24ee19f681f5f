#include <algorithm>

#include "base/encode.h"
#include "base/text.h"
#include "source/document_tool.h"
#include "source/export_tool.h"
#include "source/kinds.h"
#include "source/topological_order.h"
#include "source/transcript.h"
#include "source/words.h"

namespace reprise::source {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLlamaName = "llamacpp";

// A file attached to a message: its image or PDF, and its text.
void add_attached(JsonView attached, std::vector<Block>& blocks) {
  const std::string type = attached["type"].text();
  const std::string url = attached["base64Url"].text();
  const std::string data = attached["base64Data"].text();
  const std::string content = attached["content"].text();
  const std::size_t before = blocks.size();
  if (!url.empty()) {
    blocks.emplace_back(image_at(url));
  } else if (!data.empty() && ascii_lower(type).starts_with("pdf")) {
    blocks.emplace_back(image_of("application/pdf", data));
  }
  if (blocks.size() > before) {
    std::get<ImageBlock>(blocks.back()).extra =
        unknown_members(kLlamaName, attached, {"base64Url", "base64Data", "content"});
  }
  if (!content.empty()) {
    blocks.emplace_back(TextBlock{
        content,
        blocks.size() > before ? Extra() : unknown_members(kLlamaName, attached, {"content"})});
  }
  if (blocks.size() == before) {
    blocks.push_back(unknown_block(attached));
  }
}

// `calls` is a JSON array, or a string with one.
void add_calls(JsonView calls, std::vector<Block>& blocks) {
  const RawJson parsed = arguments_of(calls);
  JsonView(parsed.text()).each([&](JsonView call) {
    const JsonView function = call["function"] ? call["function"] : call;
    blocks.emplace_back(ToolUseBlock{
        call["id"].text(), function["name"].text(), arguments_of(function["arguments"]),
        unknown_members(kLlamaName, call, {"id", "function", "type", "name", "arguments"})});
  });
}

// The server's timings as usage. A fork copies them with the message's time, but under another id:
// both make up the id of the request.
std::optional<Usage> usage_of(JsonView message) {
  const JsonView timings = message["timings"];
  Usage usage;
  usage.cached = {timings["cache_n"].count()};
  usage.input = TokenCount{timings["prompt_n"].count()} + usage.cached;
  usage.output = {timings["predicted_n"].count()};
  if (usage == Usage{}) {
    return std::nullopt;
  }
  usage.request_id =
      cat(kLlamaName, "-", fnv1a(cat(message["timestamp"].raw(), " ", timings.raw())));
  return usage;
}

// Of a message that neither user nor model wrote: the system prompt, or a summary of the messages
// before it.
bool is_injected_llama(JsonView message) {
  return message["role"].text() == role::kSystem || message["type"].text() == "compaction";
}

Message message_of_llama(JsonView json) {
  Message message{.role = json["role"].text(),
                  .created_at = sniffed_time(json["timestamp"]).value_or(Time{})};
  json["extra"].each([&](JsonView attachment) { add_attached(attachment, message.blocks); });
  const JsonView thought = json["reasoningContent"] ? json["reasoningContent"] : json["thinking"];
  if (!thought.text().empty()) {
    message.blocks.emplace_back(ThinkingBlock{thought.text(), "", {}});
  }
  const std::string text = text_or_json(json["content"]);
  if (message.role == role::kTool) {
    message.blocks.insert(message.blocks.begin(), tool_result(json["toolCallId"].text(), text));
  } else if (!text.empty()) {
    message.blocks.emplace_back(TextBlock{text, {}});
  }
  add_calls(json["toolCalls"], message.blocks);
  if (message.role == role::kAssistant) {
    message.provider = kLlamaName;
    message.model = json["model"].text();
    message.usage = usage_of(json);
  }
  if (is_injected_llama(json)) {
    mark_injected(message);
  }
  if (json["type"].text() == "compaction") {
    mark_summary(message);
  }
  add_unknown_members(message.extra, kLlamaName, json,
                      {"content", "extra", "reasoningContent", "thinking", "toolCalls"});
  return message;
}

Session session_of_llama(JsonView conversation) {
  Session session{
      .info = {.id = session_id_of(conversation["id"].text()), .state = SessionState::closed}};
  session.info.title = title_by_tool(conversation["name"].text());
  session.info.provider = kLlamaName;
  session.info.pinned = is_true(conversation["pinned"]);
  session.info.updated_at = sniffed_time(conversation["lastModified"]).value_or(Time{});
  if (const auto parent = SessionId::parse(conversation["forkedFromConversationId"].text())) {
    session.info.forked_from = ForkOrigin{*parent, Seq{0}};
  }
  add_unknown_members(session.extra, kLlamaName, conversation, {"name"});
  return session;
}

// Parents before children, regardless of their order in the file.
std::vector<JsonView> in_order(JsonView messages) {
  std::vector<JsonView> unordered;
  std::vector<NamedNode> names;
  messages.each([&](JsonView message) {
    unordered.push_back(message);
    names.push_back({text_or_json(message["id"]), text_or_json(message["parent"])});
  });
  std::vector<JsonView> ordered;
  for (const std::uint32_t index : topological_order(names).indexes) {
    ordered.push_back(unordered[index]);
  }
  return ordered;
}

Result<std::shared_ptr<OpenSession>> open_llama_conversation(
    const std::shared_ptr<const std::string>& text,
    const std::shared_ptr<const Download>& /*download*/) {
  const JsonView json(*text);
  const JsonView conversation = json["conv"];
  auto open = std::make_shared<OpenSession>(OpenSession{.session = session_of_llama(conversation)});
  SessionInfo& info = open->session.info;
  for (const JsonView message : in_order(json["messages"])) {
    Node node = node_in(*text, message);
    node.id = node_id(text_or_json(message["id"]));
    node.parent = node_id(text_or_json(message["parent"]));
    node.link = open->tree.find(node.parent) ? Link::named : Link::root;
    node.is_message = message["type"].text() != "root" && message["role"];
    node.is_injected = is_injected_llama(message);
    node.usage = note_usage(open->usages, usage_of(message));
    open->tree.add(node, message.raw());
    const auto time = sniffed_time(message["timestamp"]);
    if (time) {
      info.created_at = info.created_at == Time{} ? *time : info.created_at;
      info.updated_at = std::max(info.updated_at, *time);
    }
    if (!node.is_injected && message["role"].text() == role::kUser && info.title.empty()) {
      info.title = title_of(message["content"].text());
    }
    if (message["model"]) {
      info.model = message["model"].text();
    }
  }
  if (const auto leaf = open->tree.find(node_id(text_or_json(conversation["currNode"])))) {
    open->tree.set_leaf(*leaf);
  }
  count_messages(*open);
  open->message = [text](std::span<const Node> nodes) -> Result<Message> {
    return message_of_llama(json_at(*text, nodes.front()));
  };
  return open;
}

// Since June 2026, a line with the conversation and one for each of its messages.
bool begins_with_session(std::string_view beginning) {
  return begins_with_element(beginning, "currNode") || begins_with_element(beginning, "harness");
}

// Collects the lines of one conversation after another.
class SessionLines {
 public:
  SessionLines(const FilePart& part, ReadReport& report,
               const std::function<void(const LinesElement&)>& sink)
      : part_(part), report_(report), sink_(sink) {}

  void take(const Record& record) {
    const std::string type = record.json["type"].text();
    if (type == "session") {
      finish();
      at_ = record.at;
      text_ = cat(R"({"conv":)", record.json.raw(), R"(,"messages":[)");
      has_session_ = true;
      count_ = 0;
    } else if (has_session_ && type == "message" && record.json["message"].is(json::Kind::object)) {
      text_ += cat(count_++ == 0 ? "" : ",", record.json["message"].raw());
    }
    end_ = record.at + record.bytes();
    if (std::cmp_greater(text_.size(), kDocumentBytesMax)) {
      add_damage(report_, {cat(part_.file.native(), ": byte ", at_),
                           cat("longer than ", kDocumentBytesMax >> 20U, " MiB"), ""});
      has_session_ = false;
      text_.clear();
    }
  }

  void finish() {
    if (has_session_) {
      text_ += "]}";
      sink_({std::make_shared<const std::string>(std::move(text_)), at_, end_ - at_});
    }
    has_session_ = false;
    text_.clear();
  }

 private:
  const FilePart& part_;
  ReadReport& report_;
  const std::function<void(const LinesElement&)>& sink_;
  std::string text_;
  bool has_session_ = false;
  std::size_t count_ = 0;  // of messages
  std::int64_t at_ = 0;
  std::int64_t end_ = 0;
};

Result<> for_each_session(int fd, const FilePart& part, ReadReport& report,
                          const std::function<void(const LinesElement&)>& sink) {
  SessionLines lines(part, report, sink);
  REPRISE_TRY(
      for_each_record(fd, part, {}, report, [&](const Record& record) { lines.take(record); }));
  lines.finish();
  return {};
}

bool is_any_json(std::string_view name) {
  return name.ends_with(".json") || name.ends_with(".jsonl");
}

constexpr ExportForm kLlamacpp = {.is_part = is_any_json,
                                  .member = "conv",
                                  .open = open_llama_conversation,
                                  .lines = {begins_with_session, for_each_session}};

}  // namespace

Result<bool> is_llamacpp(const fs::path& location) {
  return is_export(location, kLlamacpp);
}

Result<std::unique_ptr<Source>> open_llamacpp(const fs::path& location,
                                              const StoreOptions& /*options*/) {
  return open_export(location, kLlamacpp);
}

}  // namespace reprise::source
