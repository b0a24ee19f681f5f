#include <array>

#include "base/file.h"
#include "base/text.h"
#include "source/gemini/gemini_parts.h"
#include "source/qwen/qwen.h"
#include "source/recognise.h"
#include "source/transcript_source.h"

namespace reprise::source {
namespace {

namespace fs = std::filesystem;

bool is_qwen_line(JsonView line) {
  return line["uuid"] && line["sessionId"] && (line["provenance"] || line["message"]["parts"]);
}

Usage qwen_usage(JsonView line) {
  const JsonView used = line["usageMetadata"];
  Usage usage;
  usage.input = {used["promptTokenCount"].count()};
  usage.output = {used["candidatesTokenCount"].count()};  // thoughts included
  usage.cached = {used["cachedContentTokenCount"].count()};
  usage.reasoning = {used["thoughtsTokenCount"].count()};
  usage.request_id = line["uuid"].text();
  return usage;
}

// A user's line that no person wrote.
bool is_program_line(JsonView line) {
  const std::string from = line["provenance"].text();
  const bool is_persons = from.empty() || from == "real_user";
  return line["type"].text() == "user" && (!is_persons || line["subtype"]);
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
    node.is_message = message && (kind == "user" || kind == "assistant" || kind == "tool_result");
    node.is_result = kind == "tool_result";
    node.is_mark = node.is_message && is_program_line(record.json);
    node.is_inherited = static_cast<bool>(fork);
    if (auto id = SessionId::parse(fork["sessionId"].text()); fork && id) {
      into_.fork_of = *std::move(id);
    }
    if (kind == "user" && node.is_message && !node.is_mark && first_.empty()) {
      first_ = gemini::text_of(message["parts"]);
    }
    if (kind == "assistant") {
      info.model = record.json["model"].text();
      if (record.json["usageMetadata"]) {
        into_.usages.push_back(qwen_usage(record.json));
        node.usage = static_cast<std::uint32_t>(into_.usages.size());
      }
    }
    into_.tree.add(node, record.json.raw());
  }

  void finish() override { into_.session.info.title = title_of(first_); }

 private:
  Transcript& into_;
  std::string first_;
};

class Qwen final : public JsonlTool {
 public:
  explicit Qwen(fs::path place) : place_(std::move(place)) {}

  std::string_view name() const override { return "qwen"; }

  std::vector<Located> locate(ReadReport& report) const override {
    std::vector<Located> all;
    if (const auto kind = kind_of(place_); kind && *kind == FileKind::file) {
      add(place_, all, report);
      return all;
    }
    const fs::path projects = place_ / "projects";
    for (const fs::path& file : files_below(
             is_folder(projects).value_or(false) ? projects : place_, 3,
             [](const fs::path& path) {
               const fs::path folder = path.parent_path();
               return path.extension() == ".jsonl" &&
                      (folder.filename() == "chats" ||
                       folder.parent_path().filename() == "subagents");
             },
             report)) {
      add(file, all, report);
    }
    return all;
  }

  std::unique_ptr<Indexer> index(Transcript& into) const override {
    return std::make_unique<QwenIndexer>(into);
  }

  Message message(const Transcript& /*transcript*/, std::span<const Piece> pieces) const override {
    const JsonView line = pieces.front().json;
    const std::string type = line["type"].text();
    Message message{.role = std::string(type == "assistant"     ? role::kAssistant
                                        : type == "tool_result" ? role::kTool
                                                                : role::kUser),
                    .created_at = time_of(line["timestamp"]).value_or(Time{})};
    gemini::add_content(line["message"]["parts"], message.blocks);
    if (type == "assistant") {
      message.provider = "qwen";
      message.model = line["model"].text();
      if (pieces.front().node.usage != 0) {
        message.usage = qwen_usage(line);
      }
    }
    if (pieces.front().node.is_mark) {
      mark_injected(message);
    }
    static constexpr std::array<std::string_view, 3> kKnown = {"message", "model", "type"};
    add_extra(message.extra, "qwen", members_without(line, kKnown));
    return message;
  }

 private:
  static void add(const fs::path& file, std::vector<Located>& all, ReadReport& report) {
    const fs::path folder = file.parent_path();
    const bool is_child = folder.parent_path().filename() == "subagents";
    const std::string stem = file.stem().native();
    const auto id = SessionId::parse(is_child ? cat(folder.filename().native(), ":", stem) : stem);
    if (!id) {
      return add_damage(report, {file.native(), id.error().message, ""});
    }
    all.push_back({.id = *id, .parts = {{.file = file}}, .is_child = is_child});
  }

  fs::path place_;
};

}  // namespace

Result<bool> is_qwen(const fs::path& place) {
  return has_lines_of(place, 3, is_qwen_line);
}

Result<std::unique_ptr<Source>> open_qwen(const fs::path& place, const StoreOptions& /*options*/) {
  return make_transcript_source(std::make_unique<Qwen>(place));
}

}  // namespace reprise::source
