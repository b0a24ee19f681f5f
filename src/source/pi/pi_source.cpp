#include <algorithm>
#include <array>

#include "base/file.h"
#include "base/json_scan.h"
#include "base/json_view.h"
#include "base/text.h"
#include "reprise/message.h"
#include "source/kinds.h"
#include "source/transcript.h"
#include "source/values.h"

namespace reprise::source::pi {
namespace {

constexpr std::string_view kPi = "pi";

// The text of a message's content, which is a string or blocks.
std::string text_of(JsonView content) {
  std::string text = content.text();
  content.each([&](JsonView block) {
    if (block["type"].text() == "text") {
      text += cat(text.empty() ? "" : "\n", block["text"].text());
    }
  });
  return text;
}

void add_block(JsonView block, std::vector<Block>& blocks) {
  const std::string type = block["type"].text();
  if (type == "text") {
    blocks.emplace_back(
        TextBlock{block["text"].text(), extra_without(kPi, block, {"type", "text"})});
  } else if (type == "thinking") {
    blocks.emplace_back(
        ThinkingBlock{block["thinking"].text(), block["thinkingSignature"].text(),
                      extra_without(kPi, block, {"type", "thinking", "thinkingSignature"})});
  } else if (type == "toolCall") {
    blocks.emplace_back(
        ToolUseBlock{block["id"].text(), block["name"].text(), raw_of(block["arguments"]),
                     extra_without(kPi, block, {"type", "id", "name", "arguments"})});
  } else if (type == "image") {
    blocks.emplace_back(image_of(block["mimeType"].text(), block["data"].text()));
  } else {
    blocks.push_back(unknown_block(block));
  }
}

void add_content(JsonView content, std::vector<Block>& blocks) {
  if (content.is(json::Kind::string)) {
    blocks.emplace_back(TextBlock{content.text(), {}});
  }
  content.each([&](JsonView block) { add_block(block, blocks); });
}

void add_result(JsonView message, std::vector<Block>& blocks) {
  blocks.emplace_back(tool_result(message["toolCallId"].text(), text_of(message["content"]),
                                  is_true(message["isError"])));
  message["content"].each([&](JsonView block) {
    if (block["type"].text() != "text") {
      add_block(block, blocks);
    }
  });
}

std::string_view role_of(std::string_view role) {
  return role == "assistant" ? role::kAssistant : role == "toolResult" ? role::kTool : role::kUser;
}

// The entry without the members that the message has.
std::optional<RawJson> unknown_members(JsonView entry) {
  static constexpr std::array<std::string_view, 2> kKnown = {"message", "summary"};
  return members_without(entry, kKnown);
}

// Whether the entry is a message of any kind.
bool is_message_entry(JsonView entry) {
  const std::string type = entry["type"].text();
  return type == "message" || type == "custom_message" || type == "compaction" ||
         type == "branch_summary";
}

// Whether neither model nor user wrote the message: hooks, summaries.
bool is_injected_entry(JsonView entry) {
  static constexpr std::array<std::string_view, 4> kSpeakers = {"user", "assistant", "toolResult",
                                                                "bashExecution"};
  return entry["type"].text() != "message" ||
         std::ranges::find(kSpeakers, entry["message"]["role"].text()) == kSpeakers.end();
}

// Of an answer. The request's id is that of the response, else that of the entry, else its time.
Usage usage_of(JsonView entry) {
  const JsonView message = entry["message"];
  const JsonView counts = message["usage"];
  Usage usage;
  usage.cached = {counts["cacheRead"].count()};
  usage.cache_written = {counts["cacheWrite"].count()};
  usage.input = TokenCount{counts["input"].count()} + usage.cached + usage.cache_written;
  usage.output = {counts["output"].count()};
  usage.cost = Money::parse(counts["cost"]["total"].raw());
  usage.price_source = usage.cost ? kPi : "";
  // The first versions had no ids.
  for (const JsonView name : {message["responseId"], entry["id"], entry["timestamp"]}) {
    if (usage.request_id.empty()) {
      usage.request_id = name.text();
    }
  }
  return usage;
}

Message message_of(JsonView entry, bool has_usage) {
  const JsonView inner = entry["message"];
  const std::string role = inner["role"].text();
  Message message{
      .role = std::string(role_of(role)),
      .created_at =
          time_of(entry["timestamp"]).value_or(time_of(inner["timestamp"]).value_or(Time{}))};
  if (role == "toolResult") {
    add_result(inner, message.blocks);
  } else if (role == "bashExecution") {  // a command that the user ran
    message.blocks.emplace_back(
        TextBlock{cat("$ ", inner["command"].text(), "\n", inner["output"].text()), {}});
  } else if (entry["summary"]) {
    message.blocks.emplace_back(TextBlock{entry["summary"].text(), {}});
  } else {
    add_content(inner ? inner["content"] : entry["content"], message.blocks);
  }
  if (message.role == role::kAssistant) {
    message.provider = inner["provider"].text();
    message.model = inner["model"].text();
    message.response_id = inner["responseId"].text();
    const std::string stop = inner["stopReason"].text();
    const bool is_cut = stop == "aborted" || stop == "error" || stop == "length";
    message.state = is_cut ? MessageState::incomplete : MessageState::complete;
    if (has_usage) {
      message.usage = usage_of(entry);
    }
  }
  if (is_injected_entry(entry)) {
    mark_injected(message);
  }
  if (entry["type"].text() == "compaction") {
    mark_summary(message);
  }
  add_extra(message.extra, kPi, unknown_members(entry));
  static constexpr std::array<std::string_view, 7> kKnown = {
      "role", "content", "provider", "model", "responseId", "command", "output"};
  add_extra(message.extra, "pi_message", members_without(inner, kKnown));
  return message;
}

}  // namespace
}  // namespace reprise::source::pi

namespace reprise::source {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFileTag = "<file name=";
constexpr std::string_view kFileEnd = "</file>";

bool is_pi_line(JsonView line) {
  return line["type"].text() == "session" && line["id"] && line["cwd"] && !line["payload"];
}

// The id in "2026-11-20T10-00-00-000Z_<id>".
std::string pi_id(const fs::path& file) {
  const std::string stem = file.stem().native();
  return stem.substr(stem.rfind('_') + 1);
}

class PiIndexer final : public Indexer {
 public:
  explicit PiIndexer(Transcript& into) : into_(into) {}

  void take(const Record& record, std::size_t part) override {
    const auto [type, id, parent, time] =
        record.json.members({"type", "id", "parentId", "timestamp"});
    SessionInfo& info = into_.session.info;
    note_time(info, time);
    const std::string kind = type.text();
    if (kind == "session") {
      return take_header(record.json);
    }
    Node node = node_at(record, part, record.json);
    node.id = node_id(id.text());
    node.parent = node_id(parent.text());
    // The first versions had no ids: each line follows the previous one.
    node.link = parent ? Link::named : id ? Link::root : Link::previous;
    node.is_message = pi::is_message_entry(record.json);
    node.is_injected = node.is_message && pi::is_injected_entry(record.json);
    node.is_inherited = forked_at_ && time_of(time).value_or(*forked_at_) < *forked_at_;
    if (node.is_message) {
      note_message(record.json, node);
    } else if (kind == "session_info") {
      name_ = record.json["name"].text();
    } else if (kind == "model_change") {
      info.model = record.json["modelId"].text();
      info.provider = record.json["provider"].text();
    }
    into_.tree.add(node, record.json.raw());
  }

  void finish() override { into_.session.info.title = title_of(name_.empty() ? first_ : name_); }

 private:
  void take_header(JsonView header) {
    if (std::exchange(has_header_, true)) {
      return;
    }
    into_.session.info.working_dir = header["cwd"].text();
    const std::string parent = header["parentSession"].text();
    if (auto id = SessionId::parse(pi_id(parent)); !parent.empty() && id) {
      into_.fork_of = *std::move(id);
      forked_at_ = time_of(header["timestamp"]);
    }
  }

  void note_message(JsonView entry, Node& node) {
    const JsonView message = entry["message"];
    const std::string role = message["role"].text();
    node.is_result = role == "toolResult";
    if (role == "assistant") {
      if (std::string model = message["model"].text(); !model.empty()) {
        into_.session.info.model = std::move(model);
        into_.session.info.provider = message["provider"].text();
      }
      if (message["usage"]) {
        node.usage = note_usage(into_.usages, pi::usage_of(entry));
      }
    } else if (role == "user" && first_.empty()) {
      // The name of an attached file precedes the user's text.
      const std::string text = pi::text_of(message["content"]);
      const std::size_t end = text.starts_with(kFileTag) ? text.find(kFileEnd) : std::string::npos;
      first_ = end == std::string::npos ? text : text.substr(end + kFileEnd.size());
    }
  }

  Transcript& into_;
  bool has_header_ = false;
  std::optional<Time> forked_at_;
  std::string name_;
  std::string first_;
};

FileLayout::Name pi_name(const fs::path& file) {
  return {pi_id(file)};
}

bool is_pi_file(const fs::path& file, const fs::path& /*location*/) {
  return file.extension() == ".jsonl";
}

constexpr FileLayout kPiFiles = {"sessions", 1, is_pi_file, pi_name};

class Pi final : public JsonlTool {
 public:
  explicit Pi(fs::path location) : location_(std::move(location)) {}

  std::string_view name() const override { return "pi"; }

  std::vector<Located> locate(ReadReport& report) const override {
    return locate_files(location_, kPiFiles, report);
  }

  std::unique_ptr<Indexer> index(Transcript& into) const override {
    return std::make_unique<PiIndexer>(into);
  }

  Result<Message> message(const Transcript& /*transcript*/,
                          std::span<const Piece> pieces) const override {
    return pi::message_of(pieces.front().json, pieces.front().node.usage != 0);
  }

 private:
  fs::path location_;
};

}  // namespace

Result<bool> is_pi(const fs::path& location) {
  return has_lines_of(location, 2, is_pi_line);
}

Result<std::unique_ptr<Source>> open_pi(const fs::path& location, const StoreOptions& options) {
  return make_transcript_source(std::make_unique<Pi>(location), location, options);
}

}  // namespace reprise::source
