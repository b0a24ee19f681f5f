#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "source/kinds.h"
#include "source/pi/pi_record.h"
#include "source/transcript.h"

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
      into_.session.info.model = message["model"].text();
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

bool is_pi_file(const fs::path& file, const fs::path& /*place*/) {
  return file.extension() == ".jsonl";
}

constexpr FileLayout kPiFiles = {"sessions", 1, is_pi_file, pi_name};

class Pi final : public JsonlTool {
 public:
  explicit Pi(fs::path place) : place_(std::move(place)) {}

  std::string_view name() const override { return "pi"; }

  std::vector<Located> locate(ReadReport& report) const override {
    return locate_files(place_, kPiFiles, report);
  }

  std::unique_ptr<Indexer> index(Transcript& into) const override {
    return std::make_unique<PiIndexer>(into);
  }

  Result<Message> message(const Transcript& /*transcript*/,
                          std::span<const Piece> pieces) const override {
    return pi::message_of(pieces.front().json, pieces.front().node.usage != 0);
  }

 private:
  fs::path place_;
};

}  // namespace

Result<bool> is_pi(const fs::path& place) {
  return has_lines_of(place, 2, is_pi_line);
}

Result<std::unique_ptr<Source>> open_pi(const fs::path& place, const StoreOptions& options) {
  return make_transcript_source(std::make_unique<Pi>(place), place, options);
}

}  // namespace reprise::source
