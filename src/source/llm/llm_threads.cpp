#include <algorithm>
#include <iterator>
#include <ranges>
#include <set>

#include "base/text.h"
#include "source/llm/llm_rows.h"
#include "source/transcript.h"

namespace reprise::source::llm {
namespace {

using Row = sqlite::Statement;

// The data of a turn that applies to its messages.
struct Turn {
  std::string id;
  std::string parent;  // the last message that it was given
  std::string model;
  Time time{};
  std::optional<Usage> usage;
  RawJson raw;
};

Turn turn_of_row(const Row& row) {
  Turn turn;
  turn.id = row.text("id");
  turn.parent = row.text("parent_message_hash");
  turn.model = row.text("resolved_model").empty() ? row.text("model") : row.text("resolved_model");
  turn.time = time_column(row, "datetime_utc");
  turn.usage = usage_of_row(row);
  turn.raw = row_json(row, {"id", "model", "options_json", "schema_id", "token_details",
                            "duration_ms", "response_json"});
  return turn;
}

// Of turns, and of responses, which lack some and have the last two.
const std::initializer_list<std::string_view> kTurn = {
    "id",           "parent_message_hash", "tip_message_hash", "model",         "resolved_model",
    "options_json", "schema_id",           "input_tokens",     "output_tokens", "token_details",
    "duration_ms",  "datetime_utc",        "response_json",    "prompt",        "response"};

// The turns of a thread, keyed by their last message.
std::map<std::string, Turn> turns_of(Database& database, const std::string& thread,
                                     ReadReport& report) {
  std::map<std::string, Turn> turns;
  for_each_row(database.select("turns", kTurn, "WHERE thread_id = ?", std::string_view(thread)),
               "turns", report,
               [&](Row& row) { turns.emplace(row.text("tip_message_hash"), turn_of_row(row)); });
  return turns;
}

// A thread continues the conversation with its id, from before llm 0.32, and repeats its messages.
// Returns the turns of that one, and updates the session from them.
std::vector<Turn> older_turns_of(Database& database, const std::string& id,
                                 const std::map<std::string, Turn>& newer, OpenSession& open) {
  std::vector<Turn> turns;
  if (!database.has_table("conversations") || !database.has_table("responses")) {
    return turns;
  }
  std::set<std::string> known;
  for (const auto& [tip, turn] : newer) {
    known.insert(turn.id);
  }
  SessionInfo& info = open.session.info;
  std::string title;
  for_each_row(database.select("conversations", {"name"}, "WHERE id = ?", std::string_view(id)),
               "conversations", open.report, [&](Row& row) { title = title_of(row.text("name")); });
  for_each_row(database.select("responses", kTurn, "WHERE conversation_id = ? ORDER BY id",
                               std::string_view(id)),
               "responses", open.report, [&](Row& row) {
                 Turn turn = turn_of_row(row);
                 if (known.contains(turn.id)) {
                   return;
                 }
                 title = title.empty() ? title_of(row.text("prompt")) : title;
                 info.title = title.empty() ? info.title : title;
                 info.created_at =
                     turn.time == Time{} ? info.created_at : std::min(info.created_at, turn.time);
                 // Others are not among the thread's messages.
                 if (!row.text("response").empty() || has_rows(database, "tool_calls", turn.id)) {
                   turns.push_back(std::move(turn));
                 }
               });
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

void add_result(Database& database, JsonView payload, std::string text,
                std::vector<Block>& blocks) {
  const std::string exception = payload["exception"].text();
  std::string output = payload["output"] ? text_or_json(payload["output"]) : std::move(text);
  if (output.empty()) {
    output = exception;
  }
  blocks.emplace_back(
      tool_result(payload["tool_call_id"].text(), std::move(output), !exception.empty(),
                  unknown_members("llm", payload,
                                  {"name", "output", "tool_call_id", "exception", "attachments"})));
  payload["attachments"].each(
      [&](JsonView reference) { blocks.push_back(attachment(database, reference["id"].text())); });
}

void add_part(Database& database, const Row& row, std::vector<Block>& blocks) {
  const std::string type = row.text("type");
  const std::string payload_text = json_column(row, "payload");
  const JsonView payload(payload_text);
  std::string text = row.text("text");
  if (payload["text_ref"]) {
    text = text_of_reference(database, payload["text_ref"]);
  }
  if (type == "text") {
    blocks.emplace_back(TextBlock{std::move(text), unknown_members("llm", payload, {"text_ref"})});
  } else if (type == "reasoning") {
    blocks.emplace_back(
        ThinkingBlock{std::move(text), "", unknown_members("llm", payload, {"text_ref"})});
  } else if (type == "tool_call") {
    const std::string name = payload["name"].text();
    blocks.emplace_back(
        ToolUseBlock{payload["tool_call_id"].text(), name.empty() ? row.text("tool_name") : name,
                     raw_of(payload["arguments"]),
                     unknown_members("llm", payload, {"name", "arguments", "tool_call_id"})});
  } else if (type == "tool_result") {
    add_result(database, payload, std::move(text), blocks);
  } else if (type == "attachment") {
    blocks.push_back(attachment(database, payload["attachment"]["id"].text()));
  } else {
    blocks.emplace_back(
        UnknownBlock{type, row_json(row, {"type", "tool_name", "text", "payload"})});
  }
}

// What the turns and its place in the chain say about a message.
struct MessageTurn {
  const Turn* turn = nullptr;  // the one that was given the message, or that answered with it
  bool is_answer = false;
  bool is_last = false;  // of the answer
  bool is_injected = false;
};

Result<Message> message_of_hash(Database& database, std::int64_t key, const MessageTurn& of) {
  REPRISE_ASSIGN(Row row, database.select("messages", {"hash", "role", "provider_metadata"},
                                          "WHERE rowid = ?", key));
  REPRISE_ASSIGN(const bool is_present, row.step());
  if (!is_present) {
    return fail(Code::corrupt, "the message no longer exists");
  }
  const std::string hash = row.text("hash");
  Message message{.role = row.text("role")};
  ReadReport damaged;
  for_each_row(database.select("parts", {"type", "tool_name", "text", "payload"},
                               "WHERE message_hash = ? ORDER BY position", std::string_view(hash)),
               "parts", damaged, [&](Row& part) { add_part(database, part, message.blocks); });
  if (damaged.damaged > 0) {
    return fail(Code::corrupt, damaged.damage.front().reason);
  }
  // An answer may have results of the provider's own tools.
  if (message.role != role::kAssistant &&
      std::ranges::any_of(message.blocks, [](const Block& block) {
        return std::holds_alternative<ToolResultBlock>(block);
      })) {
    message.role = role::kTool;
  }
  if (of.is_injected) {
    mark_injected(message);
  }
  add_extra(message.extra, "llm_message", row_json(row, {"hash", "provider_metadata"}));
  if (of.turn != nullptr) {
    message.created_at = of.turn->time;
  }
  if (of.is_answer && message.role == role::kAssistant) {
    message.provider = "llm";
    message.model = of.turn->model;
  }
  if (of.is_last && message.role == role::kAssistant) {
    add_extra(message.extra, "llm", of.turn->raw);
  }
  return message;
}

struct ChainLink {
  std::string hash;
  std::string parent;
  std::string role;
  std::int64_t key = 0;
};

// The messages from the first one that is not in `seen` to the tip, which are added to it. Stops at
// a cycle, which damage may cause.
std::vector<ChainLink> chain_of(Database& database, std::string hash, std::set<std::string>& seen,
                                ReadReport& report) {
  std::vector<ChainLink> chain;
  while (!hash.empty() && seen.insert(hash).second) {
    ChainLink link;
    link.hash = hash;
    bool is_present = false;
    for_each_row(database.select("messages", {"parent_hash", "role"}, "WHERE hash = ?",
                                 std::string_view(hash)),
                 "messages", report, [&](Row& row) {
                   is_present = true;
                   link.parent = row.text("parent_hash");
                   link.role = row.text("role");
                   link.key = row.integer("row_number");
                 });
    if (!is_present) {
      add_damage(report, {cat("message ", hash), "not in the database", ""});
      break;
    }
    hash = link.parent;
    chain.push_back(std::move(link));
  }
  std::ranges::reverse(chain);
  return chain;
}

// A tool's attachments follow its results in the user's role.
bool has_only_attachments(Database& database, const std::string& hash) {
  bool has_only = true;
  ReadReport ignored;  // damage is reported for the message itself
  for_each_row(database.select("parts", {"type"}, "WHERE message_hash = ?", std::string_view(hash)),
               "parts", ignored,
               [&](Row& part) { has_only = has_only && part.text("type") == "attachment"; });
  return has_only;
}

// A thread while it is opened.
class Thread {
 public:
  Thread(std::shared_ptr<Database> database, OpenSession& open)
      : database_(std::move(database)), open_(open) {}

  void read_turns(const std::string& id) { *turns_ = turns_of(*database_, id, open_.report); }
  const std::map<std::string, Turn>& turns() const { return *turns_; }

  // The messages up to this one, as far as they are not in the tree.
  void add_chain(const std::string& tip, std::span<const Turn> older = {}) {
    const std::vector<ChainLink> chain = chain_of(*database_, tip, seen_, open_.report);
    add_older(chain, older);
    const std::size_t before = messages_->size();
    messages_->resize(before + chain.size());
    MessageTurn now;
    for (std::size_t i = chain.size(); i-- > 0;) {
      const auto turn = turns_->find(chain[i].hash);
      const bool is_last = turn != turns_->end();
      now = is_last ? MessageTurn{.turn = &turn->second, .is_answer = true} : now;
      now.is_answer = now.is_answer && chain[i].hash != now.turn->parent;
      MessageTurn& message = (*messages_)[before + i];
      message = now;
      message.is_last = is_last;
      message.is_injected =
          chain[i].role == role::kSystem ||
          (i > 0 && chain[i].role == role::kUser && chain[i - 1].role == role::kTool &&
           has_only_attachments(*database_, chain[i].hash));
    }
    for (std::size_t i = 0; i < chain.size(); ++i) {
      add(chain[i], before + i);
    }
  }

  std::function<Result<Message>(std::span<const Node>)> reader() const {
    return
        [database = database_, turns = turns_, messages = messages_](std::span<const Node> nodes) {
          const Node& node = nodes.front();
          return message_of_hash(*database, node.at, (*messages)[node.detail]);
        };
  }

 private:
  // Turns from before the thread answered with the first messages of its first turn.
  void add_older(const std::vector<ChainLink>& chain, std::span<const Turn> older) {
    for (const ChainLink& link : chain) {
      if (older.empty() || turns_->contains(link.hash)) {
        return;
      }
      if (link.role == role::kAssistant) {
        turns_->emplace(link.hash, older.front());
        older = older.subspan(1);
      }
    }
  }

  void add(const ChainLink& link, std::size_t message) {
    const MessageTurn& of = (*messages_)[message];
    Node node{.id = node_id(link.hash), .parent = node_id(link.parent), .at = link.key};
    node.link = open_.tree.find(node.parent) ? Link::named : Link::root;
    node.is_message = true;
    node.is_injected = of.is_injected;
    node.detail = static_cast<std::uint32_t>(message);
    if (of.is_last) {
      SessionInfo& info = open_.session.info;
      info.model = of.turn->model;
      info.updated_at = std::max(info.updated_at, of.turn->time);
      node.usage = note_usage(open_.usages, of.turn->usage);
    }
    open_.tree.add(node, link.hash);
  }

  std::shared_ptr<Database> database_;
  OpenSession& open_;
  std::shared_ptr<std::map<std::string, Turn>> turns_ =
      std::make_shared<std::map<std::string, Turn>>();  // keyed by their last message
  std::shared_ptr<std::vector<MessageTurn>> messages_ =
      std::make_shared<std::vector<MessageTurn>>();  // indexed by Node::detail
  std::set<std::string> seen_;
};

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
  std::map<std::string, SessionInfo> infos;
  if (!database.has_table("threads")) {
    return {};
  }
  for_each_row(database.select("threads", kThread, ""), "threads", report,
               [&](Row& row) { infos.emplace(row.text("id"), info_of_thread(row)); });
  for_each_row(database.select("turns", {"thread_id", "model", "datetime_utc"}, ""), "turns",
               report, [&](Row& row) {
                 const auto found = infos.find(row.text("thread_id"));
                 if (found != infos.end()) {
                   SessionInfo& info = found->second;
                   info.head = info.head.next(2);
                   info.is_head_known = false;
                   info.model = row.text("model");
                   const auto time = sniffed_time(std::string_view(row.text("datetime_utc")));
                   info.updated_at = std::max(info.updated_at, time.value_or(Time{}));
                 }
               });
  std::vector<SessionInfo> sessions;
  sessions.reserve(infos.size());
  for (auto& [id, info] : infos) {
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
  open->report = std::move(report);
  Thread thread(database, *open);
  thread.read_turns(id);
  thread.add_chain(tip, older_turns_of(*database, id, thread.turns(), *open));
  // Turns that another one, asked at the same time, left behind.
  std::vector<std::string> tips;
  std::ranges::copy(thread.turns() | std::views::keys, std::back_inserter(tips));
  const std::string model = open->session.info.model;
  for (const std::string& other : tips) {
    thread.add_chain(other);
  }
  open->session.info.model = model;
  if (const auto leaf = open->tree.find(node_id(tip))) {
    open->tree.set_leaf(*leaf);
  }
  count_messages(*open);
  open->message = thread.reader();
  return open;
}

}  // namespace reprise::source::llm
