#include <vector>

#include "base/text.h"
#include "source/chatgpt/chatgpt_message.h"
#include "source/export_tool.h"
#include "source/kinds.h"
#include "source/topological_order.h"
#include "source/transcript.h"
#include "source/words.h"

namespace reprise::source {
namespace {

namespace fs = std::filesystem;

// The nodes of a conversation, as views of its text.
struct Mapping {
  std::vector<JsonView> messages;
  std::vector<chatgpt::MessageMetadata> metadata;
  std::vector<NamedNode> names;
  NodeOrder order;

  explicit Mapping(JsonView json) {
    json::Scanner scanner(json.raw());
    if (scanner.kind() == json::Kind::object) {
      (void)scanner.object([&](std::string_view name) {  // the text is valid
        std::string_view value;
        const bool good = scanner.raw(value);
        const auto [parent, message] = JsonView(value).members({"parent", "message"});
        messages.push_back(message);
        metadata.push_back(chatgpt::metadata_of(message));
        names.push_back({std::string(name), parent.text()});
        return good;
      });
    }
    order = topological_order(names);
  }
};

// For each node, the id of the nearest call above it, which a tool's message at this node answers.
std::vector<std::string> calls_above(const Mapping& mapping) {
  std::vector<std::string> calls(mapping.metadata.size());
  for (const std::uint32_t at : mapping.order.indexes) {
    const chatgpt::MessageMetadata& metadata = mapping.metadata[at];
    const std::uint32_t parent = mapping.names[at].parent_index;
    if (metadata.is_call) {
      calls[at] = metadata.id;
    } else if (parent != kNoParent && metadata.role != role::kUser) {
      calls[at] = calls[parent];
    }
  }
  return calls;
}

// The leaf of the current branch: the node that the conversation names, or the newest leaf.
std::optional<std::uint32_t> current_node(const Mapping& mapping, JsonView named_node) {
  if (const auto named = mapping.order.find(named_node.text())) {
    return named;
  }
  std::optional<std::uint32_t> newest;
  Time newest_time{};
  for (std::uint32_t i = 0; i < mapping.metadata.size(); ++i) {
    const auto time = mapping.metadata[i].time.value_or(Time{});
    if (!mapping.names[i].has_children && (!newest || time >= newest_time)) {
      newest = i;
      newest_time = time;
    }
  }
  return newest;
}

Session session_of(JsonView json) {
  const auto [conversation_id, id, title, model, starred, archived, created, updated] =
      json.members({"conversation_id", "id", "title", "default_model_slug", "is_starred",
                    "is_archived", "create_time", "update_time"});
  Session session{
      .info = {.id = session_id_of((conversation_id ? conversation_id : id).text()),
               .state = is_true(archived) ? SessionState::archived : SessionState::closed}};
  SessionInfo& info = session.info;
  info.title = title_by_tool(title.text());
  info.provider = "openai";
  info.model = model.text();
  info.pinned = is_true(starred);
  info.created_at = sniffed_time(created).value_or(Time{});
  info.updated_at = sniffed_time(updated).value_or(info.created_at);
  add_unknown_members(session.extra, "chatgpt", json, {"mapping", "title"});
  return session;
}

// Updates the session's fields from a message.
void note_message(const chatgpt::MessageMetadata& metadata, SessionInfo& info) {
  if (metadata.time && info.created_at == Time{}) {
    info.created_at = *metadata.time;
  }
  if (metadata.time && info.updated_at < *metadata.time) {
    info.updated_at = *metadata.time;
  }
  if (info.title.empty() && metadata.role == role::kUser && !metadata.is_injected) {
    info.title = title_of(chatgpt::question_text(metadata.content));
  }
  if (metadata.role == role::kAssistant && info.model.empty()) {
    info.model = metadata.model;
  }
}

Result<std::shared_ptr<OpenSession>> open_conversation(
    const std::shared_ptr<const std::string>& conversation,
    const std::shared_ptr<const Download>& download) {
  const JsonView json(*conversation);
  const auto [mapping_json, current] = json.members({"mapping", "current_node"});
  const Mapping mapping(mapping_json);
  auto open = std::make_shared<OpenSession>(OpenSession{.session = session_of(json)});
  std::vector<std::string> calls = calls_above(mapping);  // indexed by Node::detail
  for (const std::uint32_t at : mapping.order.indexes) {
    const JsonView message = mapping.messages[at];
    const std::uint32_t parent = mapping.names[at].parent_index;
    Node node = node_in(*conversation, message);
    node.id = node_id(mapping.names[at].id);
    node.link = parent == kNoParent ? Link::root : Link::named;
    node.parent = parent == kNoParent ? 0 : node_id(mapping.names[parent].id);
    node.is_message = mapping.metadata[at].has_content;
    node.is_injected = mapping.metadata[at].is_injected;
    node.detail = at;
    open->tree.add(node, mapping.names[at].id);
    note_message(mapping.metadata[at], open->session.info);
  }
  if (const auto leaf = current_node(mapping, current)) {
    open->tree.set_leaf(open->tree.find(node_id(mapping.names[*leaf].id)).value_or(0));
  }
  if (mapping.order.has_cycle) {
    add_damage(open->report,
               {cat("session ", open->session.info.id.str()), "messages in a cycle", ""});
  }
  count_messages(*open);
  open->message = [conversation, download,
                   calls = std::move(calls)](std::span<const Node> nodes) -> Result<Message> {
    const Node& node = nodes.front();
    const JsonView message = json_at(*conversation, node);
    return chatgpt::message_of(message, calls[node.detail], download.get());
  };
  return open;
}

constexpr ExportForm kChatgpt = {is_conversations_file, "mapping", open_conversation};

}  // namespace

Result<bool> is_chatgpt(const fs::path& location) {
  return is_export(location, kChatgpt);
}

Result<std::unique_ptr<Source>> open_chatgpt(const fs::path& location,
                                             const StoreOptions& /*options*/) {
  return open_export(location, kChatgpt);
}

}  // namespace reprise::source
