#include <algorithm>
#include <charconv>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "source/document_tool.h"
#include "source/kinds.h"
#include "source/transcript.h"
#include "source/words.h"
#include "store/usage_sum.h"

namespace reprise::source {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kContinue = "continue";
constexpr std::string_view kListOfSessions = "sessions.json";
// In Node::detail.
constexpr std::uint32_t kResults = 1;
constexpr std::uint32_t kStep = 2;

// The path in a "file:" URI; any other text unchanged.
std::string path_of_uri(std::string_view uri) {
  constexpr std::string_view kScheme = "file://";
  if (!uri.starts_with(kScheme)) {
    return std::string(uri);
  }
  uri.remove_prefix(kScheme.size());
  std::string path;
  for (std::size_t i = 0; i < uri.size(); ++i) {
    const std::string_view digits = uri.substr(i + 1, 2);
    unsigned char byte = 0;
    const char* const end = digits.data() + digits.size();
    const bool is_escape = uri[i] == '%' && digits.size() == 2 &&
                           std::from_chars(digits.data(), end, byte, 16).ptr == end;
    path += is_escape ? static_cast<char>(byte) : uri[i];
    i += is_escape ? digits.size() : 0;
  }
  return path;
}

void add_content(JsonView content, std::vector<Block>& blocks) {
  if (!content.text().empty()) {
    blocks.emplace_back(TextBlock{content.text(), {}});
  }
  content.each([&](JsonView part) {
    const std::string type = part["type"].text();
    const std::string url = part["imageUrl"]["url"].text();
    if (type == "text") {
      blocks.emplace_back(TextBlock{part["text"].text(), {}});
    } else if (type == "imageUrl" && !url.empty()) {
      blocks.emplace_back(image_at(url));
    } else {
      blocks.push_back(unknown_block(part));
    }
  });
}

void add_tool_calls(JsonView calls, std::vector<Block>& blocks) {
  calls.each([&](JsonView call) {
    const JsonView function = call["function"];
    blocks.emplace_back(ToolUseBlock{
        call["id"].text(), function["name"].text(), arguments_of(function["arguments"]), {}});
  });
}

// Tool results are stored with the answer that called the tools.
Message results_of(JsonView item) {
  Message message{.role = std::string(role::kTool)};
  item["toolCallStates"].each([&](JsonView state) {
    if (!state["output"]) {
      return;
    }
    std::string text = state["output"].text();
    state["output"].each(
        [&](JsonView one) { text += cat(text.empty() ? "" : "\n", text_or_json(one["content"])); });
    const std::string status = state["status"].text();
    message.blocks.emplace_back(tool_result(
        state["toolCallId"].text(), std::move(text), status == "errored" || status == "canceled",
        unknown_members(kContinue, state, {"toolCallId", "output", "toolCall"})));
  });
  return message;
}

// The members of usage: the program's own, or those of the OpenAI API, which `cn` writes in
// messages.
struct UsageNames {
  std::string_view prompt;
  std::string_view prompt_details;
  std::string_view cached;
  std::string_view cache_written;
  std::string_view completion;
  std::string_view completion_details;
  std::string_view reasoning;
};
constexpr UsageNames kOwnNames = {
    "promptTokens",     "promptTokensDetails",     "cachedTokens",   "cacheWriteTokens",
    "completionTokens", "completionTokensDetails", "reasoningTokens"};
constexpr UsageNames kApiNames = {
    "prompt_tokens",     "prompt_tokens_details",     "cached_tokens",   "cache_write_tokens",
    "completion_tokens", "completion_tokens_details", "reasoning_tokens"};

std::optional<Usage> usage_in(JsonView json) {
  const UsageNames& names = json[kApiNames.prompt] ? kApiNames : kOwnNames;
  const JsonView details = json[names.prompt_details];
  Usage usage;
  usage.cached = {details[names.cached].count()};
  usage.cache_written = {details[names.cache_written].count()};
  usage.input = {json[names.prompt].count()};
  const TokenCount from_cache = usage.cached + usage.cache_written;
  if (usage.input < from_cache) {  // not all providers include it
    usage.input = usage.input + from_cache;
  }
  usage.output = {json[names.completion].count()};
  usage.reasoning = {json[names.completion_details][names.reasoning].count()};
  usage.cost = cost_of(json["totalCost"]);
  if (!has_usage(usage)) {
    return std::nullopt;
  }
  usage.price_source = usage.cost ? kContinue : "";
  return usage;
}

// Sets the session's usage from its messages and from its total, which includes requests that have
// no message (titles, compactions). The total's cost is used only if no message has usage, since
// those are priced one by one.
void set_usage(OpenSession& open, const Usage& total) {
  open.session.usage = total;
  count_messages(open);
  if (open.usages.empty()) {
    return;
  }
  if (auto remaining = store::usage_beyond(total, open.session.usage)) {
    remaining->cost.reset();
    remaining->price_source.clear();
    store::add_usage(open.session.usage, *remaining);
  }
}

// A summary that replaced the messages before it; summaries are also added to other messages.
bool replaces_history(JsonView item) {
  const std::string summary = item["conversationSummary"].text();
  return !summary.empty() && item["message"]["content"].text() == summary;
}

Message message_of_item(JsonView item) {
  const JsonView json = item["message"];
  const std::string role = json["role"].text();
  Message message{.role = role == "thinking" ? std::string(role::kAssistant) : role};
  if (const JsonView reasoning = item["reasoning"];
      role == role::kAssistant && !reasoning["text"].text().empty()) {
    message.blocks.emplace_back(ThinkingBlock{reasoning["text"].text(), "",
                                              unknown_members(kContinue, reasoning, {"text"})});
  }
  add_content(json["content"], message.blocks);
  if (role == "thinking") {
    const std::string text = plain_text(message);
    message.blocks = {ThinkingBlock{text, json["signature"].text(), {}}};
  } else if (role == role::kTool) {
    const std::string text = plain_text(message);
    message.blocks = {tool_result(json["toolCallId"].text(), text)};
  }
  add_tool_calls(json["toolCalls"], message.blocks);
  message.model = json["usage"]["model"].text();
  if (role == role::kSystem || replaces_history(item)) {
    mark_injected(message);
  }
  // "editorState" duplicates the text.
  add_unknown_members(message.extra, kContinue, item,
                      {"message", "editorState", "toolCallStates", "reasoning"});
  return message;
}

bool is_typed(JsonView step) {
  return step["class_name"].text() == "UserInputStep" || step["name"].text() == "User Input";
}

// The calls whose result has a message of its own.
std::set<std::string> answered_calls(JsonView history) {
  std::set<std::string> calls;
  history.each([&](JsonView item) {
    if (item["message"]["role"].text() == role::kTool) {
      calls.insert(item["message"]["toolCallId"].text());
    }
  });
  return calls;
}

bool has_own_results(JsonView item, const std::set<std::string>& answered) {
  bool has_any = false;
  item["toolCallStates"].each([&](JsonView state) {
    has_any = has_any || (state["output"] && !answered.contains(state["toolCallId"].text()));
  });
  return has_any;
}

void take_item(JsonView item, std::string_view text, const std::set<std::string>& answered,
               OpenSession& open) {
  const JsonView message = item["message"];
  if (!message.is(json::Kind::object)) {
    return add_damage(open.report, {"history", "not a message", std::string(item.raw())});
  }
  Node node = node_in(text, item);
  node.is_injected = message["role"].text() == role::kSystem || replaces_history(item);
  node.usage = note_usage(open.usages, usage_in(message["usage"]));
  open.tree.add(node, item.raw());
  if (has_own_results(item, answered)) {
    node.detail = kResults;
    node.usage = 0;
    open.tree.add(node, item.raw());
  }
  if (const std::string model = message["usage"]["model"].text(); !model.empty()) {
    open.session.info.model = model;
  }
  std::string& title = open.session.info.title;
  if (title.empty() && message["role"].text() == role::kUser) {
    std::vector<Block> blocks;
    add_content(message["content"], blocks);
    title = title_of(plain_text(Message{.blocks = std::move(blocks)}));
  }
}

// A step of the first versions: a question, or what the program did.
Message message_of_step(JsonView node) {
  const JsonView step = node["step"];
  const std::string asked = step["user_input"].text();
  const bool is_question = is_typed(step);
  Message message{.role = std::string(is_question ? role::kUser : role::kAssistant)};
  message.blocks.emplace_back(
      TextBlock{is_question && !asked.empty() ? asked : step["description"].text(), {}});
  add_unknown_members(message.extra, kContinue, step, {"description", "user_input"});
  return message;
}

// A deleted step is a branch.
void take_step(JsonView node, std::string_view text, OpenSession& open) {
  const JsonView step = node["step"];
  const std::string words = plain_text(message_of_step(node));
  if (words.empty() || is_true(step["hide"])) {
    return;
  }
  Node at = node_in(text, node);
  at.detail = kStep;
  const auto before = open.tree.end();
  open.tree.add(at, node.raw());
  if (is_true(node["deleted"])) {
    open.tree.continue_from(before);
    return;
  }
  open.tree.set_leaf(static_cast<std::uint32_t>(open.tree.nodes().size() - 1));
  std::string& title = open.session.info.title;
  if (title.empty() && is_typed(step)) {
    title = title_of(words);
  }
}

SessionId continue_id(const fs::path& file) {
  return session_id_of(file.stem().native());
}

// The list of sessions, with the time at which each began.
std::vector<fs::path> continue_list(const fs::path& file) {
  return {file.parent_path() / kListOfSessions};
}

Result<> take_beginning(const fs::path& file, std::string_view id, SessionInfo& info,
                        ReadReport& report) {
  REPRISE_ASSIGN(const std::string text,
                 read_sibling(continue_list(file).front(), kDocumentBytesMax, report));
  const auto list = RawJson::parse(text.empty() ? "[]" : text);
  JsonView(list ? std::string_view(list->text()) : "[]").each([&](JsonView entry) {
    const auto [newer_id, older_id, newer, older] =
        entry.members({"sessionId", "session_id", "dateCreated", "date_created"});
    const auto time = sniffed_time(newer ? newer : older);
    if (time && (newer_id ? newer_id : older_id).text() == id) {
      info.created_at = *time;
      info.updated_at = std::max(info.updated_at, *time);
    }
  });
  return {};
}

Result<std::shared_ptr<OpenSession>> open_continue_file(const fs::path& file) {
  ReadReport report;
  REPRISE_ASSIGN(const auto text, read_json_document(file, "history", report));
  const JsonView json(*text);
  REPRISE_ASSIGN(Session session, session_of_file(continue_id(file), file));
  auto open = std::make_shared<OpenSession>(OpenSession{.session = std::move(session)});
  open->report = std::move(report);
  SessionInfo& info = open->session.info;
  const JsonView old_info = json["session_info"];
  REPRISE_TRY(take_beginning(file, file.stem().native(), info, open->report));
  if (const auto time = sniffed_time(old_info["date_created"])) {
    info.created_at = *time;
  }
  info.title = title_by_tool((old_info["title"] ? old_info["title"] : json["title"]).text());
  const JsonView folder = old_info ? old_info["workspace_directory"] : json["workspaceDirectory"];
  info.working_dir = path_of_uri(folder.text());
  info.model = json["chatModelTitle"].text();
  add_unknown_members(open->session.extra, kContinue, json, {"history", "title"});
  const std::set<std::string> answered = answered_calls(json["history"]);
  json["history"].each([&](JsonView item) { take_item(item, *text, answered, *open); });
  json["history"]["timeline"].each([&](JsonView node) { take_step(node, *text, *open); });
  set_usage(*open, usage_in(json["usage"]).value_or(Usage{}));
  open->message = [text](std::span<const Node> nodes) -> Result<Message> {
    const Node& node = nodes.front();
    const JsonView item = json_at(*text, node);
    return node.detail == kStep      ? message_of_step(item)
           : node.detail == kResults ? results_of(item)
                                     : message_of_item(item);
  };
  return open;
}

std::vector<fs::path> continue_files(const fs::path& location, ReadReport& report) {
  if (!has_folder(location, report)) {
    return {location};
  }
  const bool has_sessions = has_folder(location / "sessions", report);
  return files_below(
      has_sessions ? location / "sessions" : location, 0,
      [](const fs::path& file) {
        return file.extension() == ".json" && file.filename() != kListOfSessions;
      },
      report);
}

constexpr DocumentForm kContinueForm = {"continue", continue_files, continue_id, open_continue_file,
                                        continue_list};

}  // namespace

Result<bool> is_continue(const fs::path& location) {
  return has_documents(location, kContinueForm);
}

Result<std::unique_ptr<Source>> open_continue(const fs::path& location,
                                              const StoreOptions& options) {
  REPRISE_TRY(check_exists(location));
  return open_documents(location, kContinueForm, options);
}

}  // namespace reprise::source
