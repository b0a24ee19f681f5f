#include <algorithm>

#include "base/encode.h"
#include "base/text.h"
#include "source/llm/llm_rows.h"
#include "source/transcript.h"

namespace reprise::source::llm {
namespace {

// The messages that one response is split into.
enum class ResponsePart : std::uint8_t { system, prompt, results, answer };

using Row = sqlite::Statement;

struct Response {
  Database& database;
  std::string_view id;
};

// The rows of another table that belong to a response, in order.
void for_each_row_of(const Response& response, std::string_view table,
                     std::initializer_list<std::string_view> columns, std::string_view tail,
                     const std::function<void(Row&)>& each) {
  Database& database = response.database;
  if (database.has_table(table) && database.has_column(table, "response_id")) {
    ReadReport ignored;  // damage is reported for the response itself
    for_each_row(database.select(table, columns, tail, response.id), table, ignored, each);
  }
}

std::string by_order(Database& database, std::string_view table) {
  return cat("WHERE response_id = ?",
             database.has_column(table, "order") ? " ORDER BY \"order\"" : "");
}

void add_fragments(Database& database, std::string_view table, std::string_view response,
                   std::vector<Block>& blocks) {
  std::vector<std::string> ids;
  for_each_row_of({database, response}, table, {"fragment_id"}, by_order(database, table),
                  [&](Row& row) { ids.push_back(row.text("fragment_id")); });
  for (const std::string& id : ids) {
    if (std::string text = fragment(database, id); !text.empty()) {
      blocks.emplace_back(TextBlock{std::move(text), {}});
    }
  }
}

void add_attachments(Database& database, std::string_view response, std::vector<Block>& blocks) {
  std::vector<std::string> ids;
  for_each_row_of({database, response}, "prompt_attachments", {"attachment_id"},
                  by_order(database, "prompt_attachments"),
                  [&](Row& row) { ids.push_back(row.text("attachment_id")); });
  for (const std::string& id : ids) {
    blocks.push_back(attachment(database, id));
  }
}

void add_attachments_of_result(Database& database, std::int64_t result,
                               std::vector<Block>& blocks) {
  constexpr std::string_view kTable = "tool_results_attachments";
  if (!database.has_table(kTable)) {
    return;
  }
  ReadReport ignored;
  for_each_row(
      database.select(kTable, {"attachment_id"},
                      cat("WHERE tool_result_id = ?",
                          database.has_column(kTable, "order") ? " ORDER BY \"order\"" : ""),
                      result),
      kTable, ignored,
      [&](Row& row) { blocks.push_back(attachment(database, row.text("attachment_id"))); });
}

void add_results(Database& database, std::string_view response, std::vector<Block>& blocks) {
  for_each_row_of({database, response}, "tool_results",
                  {"id", "name", "output", "tool_call_id", "exception"},
                  "WHERE response_id = ? ORDER BY rowid", [&](Row& row) {
                    const std::string exception = row.text("exception");
                    std::string output = row.text("output");
                    if (output.empty()) {
                      output = exception;
                    }
                    blocks.emplace_back(tool_result(row.text("tool_call_id"), std::move(output),
                                                    !exception.empty()));
                    add_attachments_of_result(database, row.integer("id"), blocks);
                  });
}

void add_calls(Database& database, std::string_view response, std::vector<Block>& blocks) {
  for_each_row_of(
      {database, response}, "tool_calls", {"name", "arguments", "tool_call_id"},
      "WHERE response_id = ? ORDER BY rowid", [&](Row& row) {
        blocks.emplace_back(ToolUseBlock{
            row.text("tool_call_id"), row.text("name"), json_in(row.text("arguments")), {}});
      });
}

const std::initializer_list<std::string_view> kColumns = {
    "id",        "model",          "prompt",       "system",       "prompt_json",   "options_json",
    "response",  "response_json",  "datetime_utc", "input_tokens", "output_tokens", "token_details",
    "schema_id", "resolved_model", "reasoning"};

// An attachment as llm writes it to JSON.
RawJson attachment_json(const Row& row) {
  const std::string_view bytes = row.bytes("content");
  if (bytes.empty()) {
    return row_json(row, {"id", "type", "path", "url"});
  }
  const RawJson metadata = row_json(row, {"id", "type", "path", "url"});
  const std::string_view members = metadata.text();
  return json::take(
      cat(members.substr(0, members.size() - 1), R"(,"content":")", base64_encode(bytes), R"("})"));
}

Message answer_of(Database& database, const Row& row) {
  Message message{.role = std::string(role::kAssistant)};
  if (std::string thought = row.text("reasoning"); !thought.empty()) {
    message.blocks.emplace_back(ThinkingBlock{std::move(thought), "", {}});
  }
  if (std::string text = row.text("response"); !text.empty()) {
    message.blocks.emplace_back(TextBlock{std::move(text), {}});
  }
  add_calls(database, row.text("id"), message.blocks);
  const std::string resolved = row.text("resolved_model");
  message.model = resolved.empty() ? row.text("model") : resolved;
  message.provider = "llm";
  message.usage = usage_of_row(row);
  add_extra(message.extra, "llm",
            row_json(row, {"id", "model", "prompt_json", "options_json", "response_json",
                           "token_details", "schema_id"}));
  return message;
}

Result<Message> message_of_row(Database& database, std::int64_t key, ResponsePart part) {
  REPRISE_ASSIGN(Row row, database.select("responses", kColumns, "WHERE rowid = ?", key));
  REPRISE_ASSIGN(const bool is_present, row.step());
  if (!is_present) {
    return fail(Code::corrupt, "the response no longer exists");
  }
  const std::string id = row.text("id");
  Message message{.role = std::string(part == ResponsePart::system    ? role::kSystem
                                      : part == ResponsePart::results ? role::kTool
                                                                      : role::kUser)};
  switch (part) {
    case ResponsePart::system:
      add_fragments(database, "system_fragments", id, message.blocks);
      if (std::string text = row.text("system"); !text.empty()) {
        message.blocks.emplace_back(TextBlock{std::move(text), {}});
      }
      mark_injected(message);
      break;
    case ResponsePart::results:
      add_results(database, id, message.blocks);
      break;
    case ResponsePart::prompt:
      add_fragments(database, "prompt_fragments", id, message.blocks);
      if (std::string text = row.text("prompt"); !text.empty()) {
        message.blocks.emplace_back(TextBlock{std::move(text), {}});
      }
      add_attachments(database, id, message.blocks);
      break;
    case ResponsePart::answer:
      message = answer_of(database, row);
      break;
  }
  message.created_at = time_column(row, "datetime_utc");
  return message;
}

// Adds the messages of a response, and the session's fields that it has.
void add_response(Database& database, const Row& row, std::string& system, OpenSession& open) {
  const std::string id = row.text("id");
  const auto add = [&](ResponsePart part) {
    Node node{.id = node_id(cat(id, ":", static_cast<int>(part))), .at = row.integer("row_number")};
    node.is_message = true;
    node.is_injected = part == ResponsePart::system;
    node.detail = static_cast<std::uint32_t>(part);
    node.usage = part == ResponsePart::answer ? note_usage(open.usages, usage_of_row(row)) : 0;
    open.tree.add(node, id);
  };
  // Every response repeats the system prompt.
  if ((!row.text("system").empty() && row.text("system") != system) ||
      has_rows(database, "system_fragments", id)) {
    system = row.text("system");
    add(ResponsePart::system);
  }
  const bool has_results = has_rows(database, "tool_results", id);
  if (has_results) {
    add(ResponsePart::results);
  }
  // Without a text, the attachments beside results are those of the results.
  if (!row.text("prompt").empty() || has_rows(database, "prompt_fragments", id) ||
      (!has_results && has_rows(database, "prompt_attachments", id))) {
    add(ResponsePart::prompt);
  }
  add(ResponsePart::answer);
  SessionInfo& info = open.session.info;
  const auto time = time_column(row, "datetime_utc");
  info.created_at = info.created_at == Time{} ? time : info.created_at;
  info.updated_at = std::max(info.updated_at, time);
  info.model = row.text("model");
  if (open.session.system_prompt.empty()) {
    open.session.system_prompt = row.text("system");
  }
  if (info.title.empty()) {
    info.title = title_of(row.text("prompt"));
  }
}

SessionInfo new_info(const std::string& id, const std::string& name) {
  SessionInfo info{.id = session_id_of(id), .state = SessionState::closed};
  info.title = title_of(name);
  info.provider = "llm";
  return info;
}

}  // namespace

std::vector<SessionInfo> list_conversations(Database& database, ReadReport& report) {
  std::map<std::string, SessionInfo> infos;
  if (!database.has_table("responses")) {
    return {};
  }
  for_each_row(database.select("conversations", {"id", "name", "model"}, ""), "conversations",
               report, [&](Row& row) {
                 const std::string id = row.text("id");
                 infos.emplace(id, new_info(id, row.text("name")));
               });
  std::map<std::string, bool> is_present;
  for_each_row(database.select("responses",
                               {"id", "conversation_id", "model", "prompt", "datetime_utc"}, ""),
               "responses", report, [&](Row& row) {
                 std::string id = row.text("conversation_id");
                 id = id.empty() ? row.text("id") : id;  // a conversation of its own
                 is_present[id] = true;
                 SessionInfo& info = infos.try_emplace(id, new_info(id, "")).first->second;
                 const auto time = time_column(row, "datetime_utc");
                 info.created_at =
                     info.created_at == Time{} ? time : std::min(info.created_at, time);
                 info.updated_at = std::max(info.updated_at, time);
                 info.head = info.head.next(2);
                 info.is_head_known = false;
                 info.model = row.text("model");
                 info.title = info.title.empty() ? title_of(row.text("prompt")) : info.title;
               });
  std::vector<SessionInfo> sessions;
  for (auto& [id, info] : infos) {
    if (is_present[id]) {
      sessions.push_back(std::move(info));
    }
  }
  return sessions;
}

std::shared_ptr<OpenSession> open_conversation(const std::shared_ptr<Database>& database,
                                               const std::string& id) {
  auto open = std::make_shared<OpenSession>(OpenSession{.session = {.info = new_info(id, "")}});
  for_each_row(database->select("conversations", {"name"}, "WHERE id = ?", std::string_view(id)),
               "conversations", open->report,
               [&](Row& row) { open->session.info.title = title_of(row.text("name")); });
  std::string system;
  const auto add_responses = [&](std::string_view where) {
    for_each_row(database->select("responses", kColumns,
                                  cat("WHERE ", where,
                                      database->has_column("responses", "datetime_utc")
                                          ? " ORDER BY datetime_utc, id"
                                          : " ORDER BY id"),
                                  std::string_view(id)),
                 cat("conversation ", id), open->report,
                 [&](Row& row) { add_response(*database, row, system, *open); });
  };
  add_responses("conversation_id = ?");
  if (open->tree.nodes().empty()) {
    add_responses("id = ? AND coalesce(conversation_id, '') = ''");
  }
  if (open->tree.nodes().empty()) {
    return nullptr;
  }
  count_messages(*open);
  open->message = [database](std::span<const Node> nodes) {
    return message_of_row(*database, nodes.front().at,
                          static_cast<ResponsePart>(nodes.front().detail));
  };
  return open;
}

bool has_rows(Database& database, std::string_view table, std::string_view response) {
  bool has_any = false;
  for_each_row_of({database, response}, table, {"response_id"}, "WHERE response_id = ? LIMIT 1",
                  [&](Row&) { has_any = true; });
  return has_any;
}

std::optional<Usage> usage_of_row(const Row& row) {
  Usage usage;
  usage.input = {std::max<std::int64_t>(row.integer("input_tokens"), 0)};
  usage.output = {std::max<std::int64_t>(row.integer("output_tokens"), 0)};
  // As OpenAI's two protocols name them.
  const std::string details_text = json_column(row, "token_details");
  const JsonView details(details_text);
  usage.cached = TokenCount{details["prompt_tokens_details"]["cached_tokens"].count()} +
                 TokenCount{details["input_tokens_details"]["cached_tokens"].count()};
  usage.reasoning = TokenCount{details["completion_tokens_details"]["reasoning_tokens"].count()} +
                    TokenCount{details["output_tokens_details"]["reasoning_tokens"].count()};
  if (usage == Usage{}) {
    return std::nullopt;
  }
  usage.request_id = row.text("id");
  return usage;
}

std::string fragment(Database& database, std::string_view id) {
  std::string text;
  ReadReport ignored;
  for_each_row(database.select("fragments", {"content"}, "WHERE id = ?", id), "fragments", ignored,
               [&](Row& row) { text = row.text("content"); });
  return text;
}

Block attachment(Database& database, const std::string& id) {
  const auto unknown = [](const RawJson& json) { return unknown_block(JsonView(json.text())); };
  Block block = unknown(json::take(cat(R"({"id":)", json::quoted(id), "}")));
  ReadReport ignored;
  for_each_row(database.select("attachments", {"id", "type", "path", "url", "content"},
                               "WHERE id = ?", std::string_view(id)),
               "attachments", ignored, [&](Row& row) {
                 const std::string type = row.text("type");
                 const bool is_image = type.starts_with("image/") || type == "application/pdf";
                 if (is_image && !row.bytes("content").empty()) {
                   block = image_of(type, base64_encode(row.bytes("content")));
                 } else if (is_image && !row.text("url").empty()) {
                   block = image_at(type, row.text("url"));
                 } else {
                   block = unknown(attachment_json(row));
                 }
               });
  return block;
}

}  // namespace reprise::source::llm
