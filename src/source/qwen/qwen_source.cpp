#include <algorithm>
#include <array>
#include <iterator>

#include "base/file.h"
#include "base/text.h"
#include "source/gemini/gemini.h"
#include "source/kinds.h"
#include "source/transcript.h"
#include "source/words.h"

namespace reprise::source {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kQwen = "qwen";

// The first versions stored sessions like Gemini CLI, of which that program is a fork.
bool is_older_chat(const fs::path& file) {
  return file.extension() == ".json";
}

bool is_qwen_line(JsonView line) {
  bool is_older = false;
  line["messages"].each(
      [&](JsonView message) { is_older = is_older || message["type"].text() == kQwen; });
  return (is_older && gemini::is_chat(line)) ||
         (line["uuid"] && line["sessionId"] && (line["provenance"] || line["message"]["parts"]));
}

Usage qwen_usage(JsonView line) {
  const JsonView counts = line["usageMetadata"];
  Usage usage;
  usage.input = {counts["promptTokenCount"].count()};
  usage.output = {counts["candidatesTokenCount"].count()};  // thoughts included
  usage.cached = {counts["cachedContentTokenCount"].count()};
  usage.reasoning = {counts["thoughtsTokenCount"].count()};
  usage.request_id = line["uuid"].text();
  return usage;
}

// Whether a program wrote a user's line.
bool is_program_line(JsonView line) {
  const std::string from = line["provenance"].text();
  const std::string kind = line["subtype"].text();
  const bool is_persons =
      (from.empty() || from == "real_user") && (kind.empty() || kind == "mid_turn_user_message");
  return line["type"].text() == "user" && !is_persons;
}

// After a compaction, the model gets this history instead of the messages before it. It begins with
// the summary, as if the user had written it. Not an object for other lines.
JsonView summary_of(JsonView line) {
  JsonView summary;
  if (line["type"].text() == "system" && line["subtype"].text() == "chat_compression") {
    line["systemPayload"]["compressedHistory"].each([&](JsonView content) {
      if (!summary && content["role"].text() == "user") {
        summary = content;
      }
    });
  }
  return summary;
}

class QwenIndexer final : public Indexer {
 public:
  explicit QwenIndexer(Transcript& into) : into_(into) {}

  void take(const Record& record, std::size_t part) override {
    const auto [type, uuid, parent, time, cwd, fork] =
        record.json.members({"type", "uuid", "parentUuid", "timestamp", "cwd", "forkedFrom"});
    SessionInfo& info = into_.session.info;
    if (!fork) {
      note_time(info, time);
    }
    if (info.working_dir.empty()) {
      info.working_dir = cwd.text();
    }
    const std::string kind = type.text();
    const JsonView message = record.json["message"];
    Node node = node_at(record, part, record.json);
    node.id = node_id(uuid.text());
    node.parent = node_id(parent.text());
    node.link = parent ? Link::named : parent.raw().empty() ? Link::previous : Link::root;
    const bool is_summary = static_cast<bool>(summary_of(record.json));
    node.is_message =
        is_summary || (message && (kind == "user" || kind == "assistant" || kind == "tool_result"));
    node.is_result = kind == "tool_result";
    node.is_injected =
        is_summary || (node.is_message && !into_.is_child && is_program_line(record.json));
    node.is_inherited = static_cast<bool>(fork);
    if (auto id = SessionId::parse(fork["sessionId"].text()); fork && id) {
      into_.fork_of = *std::move(id);
    }
    if (kind == "user" && node.is_message && !node.is_injected && first_.empty()) {
      const JsonView typed = record.json["systemPayload"]["displayText"];
      first_ =
          words_of_person(typed.text().empty() ? gemini::text_of(message["parts"]) : typed.text());
    }
    if (kind == "assistant") {
      if (std::string model = record.json["model"].text(); !model.empty()) {
        info.model = std::move(model);
        info.provider = kQwen;
      }
      if (record.json["usageMetadata"]) {
        node.usage = note_usage(into_.usages, qwen_usage(record.json));
      }
    }
    if (record.json["subtype"].text() == "custom_title") {
      name_ = record.json["systemPayload"]["customTitle"].text();
    }
    into_.tree.add(node, record.json.raw());
  }

  void finish() override { into_.session.info.title = title_of(name_.empty() ? first_ : name_); }

 private:
  Transcript& into_;
  std::string name_;
  std::string first_;
};

FileLayout::Name qwen_name(const fs::path& file) {
  const fs::path folder = file.parent_path();
  const bool is_child = folder.parent_path().filename() == "subagents";
  const std::string stem = file.stem().native();
  return {is_child ? cat(folder.filename().native(), ":", stem) : stem, is_child};
}

bool is_qwen_file(const fs::path& file, const fs::path& /*location*/) {
  const fs::path folder = file.parent_path();
  return file.extension() == ".jsonl" &&
         (folder.filename() == "chats" || folder.parent_path().filename() == "subagents");
}

constexpr FileLayout kQwenFiles = {"projects", 3, is_qwen_file, qwen_name};

class Qwen final : public JsonlTool {
 public:
  explicit Qwen(fs::path location) : location_(std::move(location)) {}

  std::string_view name() const override { return "qwen"; }

  std::vector<Located> locate(ReadReport& report) const override {
    if (is_older_chat(location_)) {
      return gemini::locate_chats(location_, report);
    }
    std::vector<Located> sessions = locate_files(location_, kQwenFiles, report);
    if (has_folder(location_ / "tmp", report)) {
      std::ranges::move(gemini::locate_chats(location_, report), std::back_inserter(sessions));
    }
    return sessions;
  }

  std::unique_ptr<Indexer> index(Transcript& into) const override {
    return is_older_chat(into.parts.front().file) ? gemini::make_indexer(kQwen, into)
                                                  : std::make_unique<QwenIndexer>(into);
  }

  Result<Message> message(const Transcript& transcript,
                          std::span<const Piece> pieces) const override {
    const JsonView line = pieces.front().json;
    if (is_older_chat(transcript.parts.front().file)) {
      return gemini::message_of(kQwen, transcript, pieces.front().node, line);
    }
    const std::string type = line["type"].text();
    Message message{.role = std::string(type == "assistant"     ? role::kAssistant
                                        : type == "tool_result" ? role::kTool
                                                                : role::kUser),
                    .created_at = time_of(line["timestamp"]).value_or(Time{})};
    const JsonView summary = summary_of(line);
    gemini::add_content(kQwen, (summary ? summary : line["message"])["parts"], message.blocks);
    if (type == "assistant") {
      message.provider = kQwen;
      message.model = line["model"].text();
      if (pieces.front().node.usage != 0) {
        message.usage = qwen_usage(line);
      }
    }
    if (pieces.front().node.is_injected) {
      mark_injected(message);
    }
    if (summary) {
      mark_summary(message);
    }
    static constexpr std::array<std::string_view, 3> kKnown = {"message", "model", "type"};
    add_extra(message.extra, "qwen", members_without(line, kKnown));
    return message;
  }

 private:
  fs::path location_;
};

}  // namespace

Result<bool> is_qwen(const fs::path& location) {
  return has_lines_of(location, 4, is_qwen_line);
}

Result<std::unique_ptr<Source>> open_qwen(const fs::path& location, const StoreOptions& options) {
  return make_transcript_source(std::make_unique<Qwen>(location), location, options);
}

}  // namespace reprise::source
