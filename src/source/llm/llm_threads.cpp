#include <algorithm>
#include <set>

#include "base/text.h"
#include "source/llm/llm_rows.h"
#include "source/transcript.h"

namespace reprise::source::llm {
namespace {

using Row = sqlite::Statement;

// The data of a turn that applies to its last message.
struct Turn {
  std::string id;
  std::string model;
  Time time{};
  std::optional<Usage> usage;
  RawJson raw;
};

Turn turn_of_row(const Row& row) {
  Turn turn;
  turn.id = row.text("id");
  turn.model = row.text("resolved_model").empty() ? row.text("model") : row.text("resolved_model");
  turn.time = time_column(row, "datetime_utc");
  turn.usage = usage_of_row(row);
  turn.raw = row_json(row, {"id", "model", "options_json", "schema_id", "token_details",
                            "duration_ms", "response_json"});
  return turn;
}

// The turns of a thread, keyed by their last message.
std::map<std::string, Turn> turns_of(Database& database, const std::string& thread,
                                     ReadReport& report) {
  std::map<std::string, Turn> turns;
  for_each_row(database.select("turns",
                               {"id", "tip_message_hash", "model", "resolved_model", "options_json",
                                "schema_id", "input_tokens", "output_tokens", "token_details",
                                "duration_ms", "datetime_utc", "response_json"},
                               "WHERE thread_id = ?", std::string_view(thread)),
               "turns", report,
               [&](Row& row) { turns.emplace(row.text("tip_message_hash"), turn_of_row(row)); });
  return turns;
}

// Resolves a text made of fragments: [{"fragment":id},{"literal":s}].
std::string text_of_reference(Database& database, JsonView pieces) {
  std::string text;
  pieces.each([&](JsonView piece) {
    text += piece["literal"].text();
    if (piece["fragment"]) {
      text += fragment(database, text_or_json(piece["fragment"]));
    }
  });
  return text;
}

Block block_of_part(Database& database, const Row& row) {
  const std::string type = row.text("type");
  const std::string payload_text = json_column(row, "payload");
  const JsonView payload(payload_text);
  std::string text = row.text("text");
  if (payload["text_ref"]) {
    text = text_of_reference(database, payload["text_ref"]);
  }
  if (type == "text") {
    return TextBlock{std::move(text), unknown_members("llm", payload, {"text_ref"})};
  }
  if (type == "reasoning") {
    return ThinkingBlock{std::move(text), "", unknown_members("llm", payload, {"text_ref"})};
  }
  if (type == "tool_call") {
    const std::string name = payload["name"].text();
    return ToolUseBlock{payload["tool_call_id"].text(), name.empty() ? row.text("tool_name") : name,
                        raw_of(payload["arguments"]),
                        unknown_members("llm", payload, {"name", "arguments", "tool_call_id"})};
  }
  if (type == "tool_result") {
    const std::string exception = payload["exception"].text();
    std::string output = payload["output"] ? text_or_json(payload["output"]) : std::move(text);
    if (output.empty()) {
      output = exception;
    }
    return tool_result(
        payload["tool_call_id"].text(), std::move(output), !exception.empty(),
        unknown_members("llm", payload, {"name", "output", "tool_call_id", "exception"}));
  }
  if (type == "attachment") {
    return attachment(database, payload["attachment_id"].text());
  }
  return UnknownBlock{type, row_json(row, {"type", "tool_name", "text", "payload"})};
}

Result<Message> message_of_hash(Database& database, std::int64_t key,
                                const std::map<std::string, Turn>& turns) {
  REPRISE_ASSIGN(Row row, database.select("messages", {"hash", "role", "provider_metadata"},
                                          "WHERE rowid = ?", key));
  REPRISE_ASSIGN(const bool is_present, row.step());
  if (!is_present) {
    return fail(Code::corrupt, "the message no longer exists");
  }
  const std::string hash = row.text("hash");
  Message message{.role = row.text("role")};
  ReadReport damaged;
  bool has_results = false;
  for_each_row(database.select("parts", {"type", "tool_name", "text", "payload"},
                               "WHERE message_hash = ? ORDER BY position", std::string_view(hash)),
               "parts", damaged, [&](Row& part) {
                 message.blocks.push_back(block_of_part(database, part));
                 has_results =
                     has_results || std::holds_alternative<ToolResultBlock>(message.blocks.back());
               });
  if (damaged.damaged > 0) {
    return fail(Code::corrupt, damaged.damage.front().reason);
  }
  if (has_results) {
    message.role = role::kTool;
  }
  if (message.role == role::kSystem) {
    mark_injected(message);
  }
  add_extra(message.extra, "llm_message", row_json(row, {"hash", "provider_metadata"}));
  if (const auto turn = turns.find(hash); turn != turns.end()) {
    message.created_at = turn->second.time;
    if (message.role == role::kAssistant) {
      message.provider = "llm";
      message.model = turn->second.model;
      message.usage = turn->second.usage;
      add_extra(message.extra, "llm", turn->second.raw);
    }
  }
  return message;
}

struct Link {
  std::string hash;
  std::string role;
  std::int64_t key = 0;
};

// The messages from the first one to the tip. Stops at a cycle, which damage may cause.
std::vector<Link> chain_of(Database& database, std::string hash, ReadReport& report) {
  std::vector<Link> chain;
  std::set<std::string> seen;
  while (!hash.empty() && seen.insert(hash).second) {
    Link link{hash, "", 0};
    std::string parent;
    bool is_present = false;
    for_each_row(database.select("messages", {"parent_hash", "role"}, "WHERE hash = ?",
                                 std::string_view(hash)),
                 "messages", report, [&](Row& row) {
                   is_present = true;
                   parent = row.text("parent_hash");
                   link.role = row.text("role");
                   link.key = row.integer("row_number");
                 });
    if (!is_present) {
      add_damage(report, {cat("message ", hash), "not in the database", ""});
      break;
    }
    chain.push_back(std::move(link));
    hash = std::move(parent);
  }
  std::ranges::reverse(chain);
  return chain;
}

const std::initializer_list<std::string_view> kThread = {"id", "name", "tip_message_hash",
                                                         "forked_from", "datetime_utc"};

SessionInfo info_of_thread(const Row& row) {
  SessionInfo info{.id = session_id_of(row.text("id")), .state = SessionState::closed};
  info.title = title_of(row.text("name"));
  info.provider = "llm";
  info.created_at = time_column(row, "datetime_utc");
  info.updated_at = info.created_at;
  return info;
}

}  // namespace

std::vector<SessionInfo> list_threads(Database& database, ReadReport& report) {
  std::map<std::string, SessionInfo> all;
  if (!database.has_table("threads")) {
    return {};
  }
  for_each_row(database.select("threads", kThread, ""), "threads", report,
               [&](Row& row) { all.emplace(row.text("id"), info_of_thread(row)); });
  for_each_row(database.select("turns", {"thread_id", "model", "datetime_utc"}, ""), "turns",
               report, [&](Row& row) {
                 const auto found = all.find(row.text("thread_id"));
                 if (found != all.end()) {
                   SessionInfo& info = found->second;
                   info.head = info.head.next(2);
                   info.is_head_known = false;
                   info.model = row.text("model");
                   const auto time = sniffed_time(std::string_view(row.text("datetime_utc")));
                   info.updated_at = std::max(info.updated_at, time.value_or(Time{}));
                 }
               });
  std::vector<SessionInfo> sessions;
  sessions.reserve(all.size());
  for (auto& [id, info] : all) {
    sessions.push_back(std::move(info));
  }
  return sessions;
}

std::shared_ptr<OpenSession> open_thread(const std::shared_ptr<Database>& database,
                                         const std::string& id) {
  std::shared_ptr<OpenSession> open;
  std::string tip;
  ReadReport report;
  for_each_row(
      database->select("threads", kThread, "WHERE id = ?", std::string_view(id)), "threads", report,
      [&](Row& row) {
        open = std::make_shared<OpenSession>(OpenSession{.session = {.info = info_of_thread(row)}});
        tip = row.text("tip_message_hash");
        const auto parent = SessionId::parse(row.text("forked_from"));
        if (parent) {
          open->session.info.forked_from = ForkOrigin{*parent, Seq{0}};
        }
      });
  if (!open) {
    return nullptr;
  }
  auto turns = std::make_shared<const std::map<std::string, Turn>>(turns_of(*database, id, report));
  for (const Link& link : chain_of(*database, tip, report)) {
    Node node{.id = node_id(link.hash), .at = link.key};
    node.is_message = true;
    node.is_injected = link.role == role::kSystem;
    if (const auto turn = turns->find(link.hash); turn != turns->end()) {
      open->session.info.model = turn->second.model;
      open->session.info.updated_at = std::max(open->session.info.updated_at, turn->second.time);
      node.usage = note_usage(open->usages, turn->second.usage);
    }
    open->tree.add(node, link.hash);
  }
  open->report = std::move(report);
  count_messages(*open);
  open->message = [database, turns](std::span<const Node> nodes) {
    return message_of_hash(*database, nodes.front().at, *turns);
  };
  return open;
}

}  // namespace reprise::source::llm
