#include <algorithm>

#include "base/text.h"
#include "source/export_tool.h"
#include "source/kinds.h"
#include "source/topological_order.h"
#include "source/transcript.h"

namespace reprise::source {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLlamaName = "llamacpp";

// Files attached to a message.
void add_attached(JsonView attached, std::vector<Block>& blocks) {
  const std::string type = attached["type"].text();
  const std::string url = attached["base64Url"].text();
  const std::string content = attached["content"].text();
  Extra extra;
  if (type == "imageFile" && !url.empty()) {
    add_unknown_members(extra, kLlamaName, attached, {"base64Url"});
    ImageBlock image = image_at(url);
    image.extra = std::move(extra);
    blocks.emplace_back(std::move(image));
  } else if (!content.empty()) {
    blocks.emplace_back(TextBlock{content, unknown_members(kLlamaName, attached, {"content"})});
  } else {
    blocks.emplace_back(UnknownBlock{type, raw_of(attached)});
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

// The server's timings as usage.
std::optional<Usage> usage_of_timings(JsonView timings) {
  Usage usage;
  usage.input = {timings["prompt_n"].count() + timings["cache_n"].count()};
  usage.cached = {timings["cache_n"].count()};
  usage.output = {timings["predicted_n"].count()};
  return usage == Usage{} ? std::nullopt : std::optional(usage);
}

Message message_of_llama(JsonView json) {
  Message message{.role = json["role"].text(),
                  .created_at = sniffed_time(json["timestamp"]).value_or(Time{})};
  json["extra"].each([&](JsonView one) { add_attached(one, message.blocks); });
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
    message.usage = usage_of_timings(json["timings"]);
  }
  add_unknown_members(message.extra, kLlamaName, json,
                      {"content", "extra", "reasoningContent", "thinking", "toolCalls"});
  return message;
}

Session session_of_llama(JsonView conversation) {
  Session session{
      .info = {.id = session_id_of(conversation["id"].text()), .state = SessionState::closed}};
  session.info.title = title_of(conversation["name"].text());
  session.info.provider = kLlamaName;
  session.info.updated_at = sniffed_time(conversation["lastModified"]).value_or(Time{});
  if (const auto parent = SessionId::parse(conversation["forkedFromConversationId"].text())) {
    session.info.forked_from = ForkOrigin{*parent, Seq{0}};
  }
  add_unknown_members(session.extra, kLlamaName, conversation, {"name"});
  return session;
}

// Parents before children, regardless of their order in the file.
std::vector<JsonView> in_order(JsonView messages) {
  std::vector<JsonView> all;
  std::vector<NamedNode> names;
  messages.each([&](JsonView message) {
    all.push_back(message);
    names.push_back({text_or_json(message["id"]), text_or_json(message["parent"])});
  });
  std::vector<JsonView> ordered;
  for (const std::uint32_t place : topological_order(names).places) {
    ordered.push_back(all[place]);
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
    node.usage = note_usage(open->usages, usage_of_timings(message["timings"]));
    open->tree.add(node, message.raw());
    const auto time = sniffed_time(message["timestamp"]);
    if (time) {
      info.created_at = info.created_at == Time{} ? *time : info.created_at;
      info.updated_at = std::max(info.updated_at, *time);
    }
    if (message["role"].text() == role::kUser && info.title.empty()) {
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

bool is_any_json(std::string_view name) {
  return name.ends_with(".json");
}

constexpr ExportForm kLlamacpp = {is_any_json, "conv", open_llama_conversation};

}  // namespace

Result<bool> is_llamacpp(const fs::path& place) {
  return is_export(place, kLlamacpp);
}

Result<std::unique_ptr<Source>> open_llamacpp(const fs::path& place,
                                              const StoreOptions& /*options*/) {
  return open_export(place, kLlamacpp);
}

}  // namespace reprise::source
