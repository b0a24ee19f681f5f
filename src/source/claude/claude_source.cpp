#include <algorithm>
#include <array>
#include <map>
#include <ranges>
#include <unordered_map>

#include "base/encode.h"
#include "base/file.h"
#include "base/text.h"
#include "source/claude/claude_record.h"
#include "source/kinds.h"
#include "source/transcript.h"
#include "source/words.h"

namespace reprise::source {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".jsonl";
constexpr std::string_view kAgentPrefix = "agent-";
constexpr std::string_view kSidechainPrefix = "sidechain-";
constexpr std::string_view kSubagents = "subagents";

bool is_claude_line(JsonView line) {
  static constexpr std::array<std::string_view, 6> kOwnTypes = {
      "user", "assistant", "system", "attachment", "summary", "queue-operation"};
  const std::string type = line["type"].text();
  return std::ranges::find(kOwnTypes, type) != kOwnTypes.end() && !line["provenance"] &&
         (line["sessionId"] || line["leafUuid"]) && !line["projectHash"];
}

struct Titles {
  std::string custom;
  std::string ai;
  struct Summary {
    std::string text;
    std::uint64_t leaf = 0;  // of the branch that it names; 0: not recorded
  };
  std::vector<Summary> summaries;
  std::string first;
};

class ClaudeIndexer final : public Indexer {
 public:
  explicit ClaudeIndexer(Transcript& into) : into_(into) {}

  void take(const Record& record, std::size_t part) override {
    const claude::Line line(record.json);
    if (line.is_sidechain && !into_.is_child) {
      take_sidechain(line, record, part);
      return;
    }
    SessionInfo& info = into_.session.info;
    note_time(info, line.time);
    if (info.working_dir.empty()) {
      info.working_dir = (line.folder ? line.folder : record.json["project"]).text();
    }
    if (into_.is_child && into_.parent.empty() &&
        !info.id.str().contains(kBranchSeparator)) {  // beside its session's file
      into_.parent = record.json["sessionId"].text();
    }
    Node node = node_at(record, part, record.json);
    node.id = id_of(line.uuid);
    if (line.type == "user" || line.type == "assistant" || line.type == "tool_use" ||
        line.type == "tool_result") {
      into_.first_message = into_.first_message == 0 ? node.id : into_.first_message;
      note_message(line, node);
      note_interruption(line, node);
      add_node(line, node);
    } else if (line.uuid &&
               (line.type == "system" || line.type == "attachment" || line.type == "progress")) {
      add_node(line, node);
    } else {
      note_title(line.type, record.json);
    }
  }

  // Titles are short, and begin with their type.
  bool adds_metadata(std::string_view line) const override {
    constexpr std::size_t kBeginning = 32;
    const std::string_view beginning = line.substr(0, kBeginning);
    return titles_.first.empty() || into_.session.info.working_dir.empty() ||
           beginning.contains("title\"") || beginning.contains("\"summary\"");
  }

  void finish() override {
    into_.tree.join_answers(times_);
    std::string& title = into_.session.info.title;
    for (const std::string_view candidate :
         {std::string_view(titles_.custom), std::string_view(titles_.ai), own_summary(),
          std::string_view(titles_.first)}) {
      if (title.empty()) {
        title = title_of(candidate);
      }
    }
    for (const auto& [name, agent] : agents_) {
      agent->finish();
    }
  }

 private:
  // Older versions wrote the lines of sub-agents among those of the session that started them. Each
  // sub-agent begins with a line without a parent; only some versions name it.
  void take_sidechain(const claude::Line& line, const Record& record, std::size_t part) {
    Node node = node_at(record, part, record.json);
    node.id = id_of(line.uuid);
    node.parent = id_of(line.parent);
    node.link = Link::named;
    node.is_sidechain = true;  // lines of the session may follow it
    into_.tree.add(node, record.json.raw());
    if (ClaudeIndexer* const agent = agent_of_sidechain(line, node)) {
      last_agent_ = agent;
      agent_of_line_.insert_or_assign(node.id, agent);
      agent->take(record, part);
    }
  }

  ClaudeIndexer* agent_of_sidechain(const claude::Line& line, const Node& node) {
    if (const auto known = agent_of_line_.find(node.parent); known != agent_of_line_.end()) {
      return known->second;
    }
    if (const std::string name = line.record["agentId"].text(); !name.empty()) {
      return agent_named(name);
    }
    // In files without parents, each line follows the previous.
    const bool is_prompt = line.type == "user" && !claude::is_result_line(line);
    return is_prompt || last_agent_ == nullptr ? agent_named(hex_of(node.id)) : last_agent_;
  }

  // Null if the name is not valid in an id.
  ClaudeIndexer* agent_named(std::string_view name) {
    const std::string full = cat(kSidechainPrefix, name);
    Transcript* const transcript = agent_of(into_, full);
    if (transcript == nullptr) {
      return nullptr;
    }
    std::unique_ptr<ClaudeIndexer>& agent = agents_[full];
    if (!agent) {
      agent = std::make_unique<ClaudeIndexer>(*transcript);
    }
    return agent.get();
  }

  // The last one of this session: a file may have those of others.
  std::string_view own_summary() const {
    for (const Titles::Summary& summary : titles_.summaries | std::views::reverse) {
      if (summary.leaf == 0 || into_.tree.find(summary.leaf) || !into_.is_whole) {
        return summary.text;
      }
    }
    return "";
  }

  std::uint64_t id_of(JsonView id) { return node_id(id.text(buffer_)); }

  void note_title(std::string_view kind, JsonView record) {
    if (kind == "custom-title") {
      titles_.custom = record["customTitle"].text();
    } else if (kind == "ai-title") {
      titles_.ai = (record["aiTitle"] ? record["aiTitle"] : record["title"]).text();
    } else if (kind == "summary") {
      titles_.summaries.push_back({record["summary"].text(), id_of(record["leafUuid"])});
    }
  }

  void note_message(const claude::Line& line, Node& node) {
    node.is_message = true;
    node.is_result = line.type != "assistant" && claude::is_result_line(line);
    node.is_injected = !node.is_result && claude::is_injected_line(line);
    if (node.is_result) {
      line.content.each([&](JsonView block) {
        node.group = fnv1a(block["tool_use_id"].text(buffer_), fnv1a(":", node.group));
      });
    }
    if (line.type == "assistant" && !node.is_injected) {
      if (node.group = id_of(line.id); node.group != 0) {
        node.group = fnv1a(line.request.text(buffer_), fnv1a(":", node.group));
      }
      node.detail = line.stop_reason.raw() == "null" ? claude::kWithoutReason : 0;
      if (line.usage) {
        node.usage = note_usage(into_.usages, claude::usage_of(line));
      }
      if (const std::string_view model = line.model.text(buffer_); !model.empty()) {
        into_.session.info.model = model;
      }
      into_.session.info.provider = "anthropic";
    }
    if (line.type == "user" && titles_.first.empty() && !node.is_injected && !node.is_result) {
      titles_.first = first_words(line.content);
    }
  }

  // Marks the answer that the user interrupted.
  void note_interruption(const claude::Line& line, const Node& node) {
    if (line.type != "user" || !node.is_injected ||
        first_text(line.content) != "[Request interrupted by user]") {
      return;
    }
    const auto answer = line.parent ? into_.tree.find(id_of(line.parent)) : into_.tree.end();
    if (answer && into_.tree.nodes()[*answer].detail == claude::kWithoutReason) {
      into_.tree.node(*answer).detail = claude::kInterrupted;
    }
  }

  void add_node(const claude::Line& line, Node& node) {
    ++nodes_;
    if (line.parent || line.logical_parent) {
      ++with_parent_;
      node.link = Link::named;
      node.parent = id_of(line.parent ? line.parent : line.logical_parent);
    } else if (!line.parent.raw().empty() && with_parent_ * 2 > nodes_ && line.type == "user" &&
               !node.is_injected && !node.is_result) {
      // The user went back to the beginning. In files without parents, each line follows the
      // previous, and so does what is no question, such as a summary.
      node.link = Link::root;
    }
    // Resumed files repeat lines, with other times and versions.
    if (into_.tree.add(node,
                       node.is_message && line.content ? line.content.raw() : line.record.raw())) {
      times_.resize(into_.tree.nodes().size(), times_.empty() ? Time{} : times_.back());
      times_.back() = time_of(line.time).value_or(times_.back());
    }
  }

  Transcript& into_;
  Titles titles_;
  std::int64_t nodes_ = 0;
  std::int64_t with_parent_ = 0;
  std::vector<Time> times_;  // of the nodes, each as early as possible
  // The sub-agents in the same file, by name and by the ids of their lines.
  std::map<std::string, std::unique_ptr<ClaudeIndexer>> agents_;
  std::unordered_map<std::uint64_t, ClaudeIndexer*> agent_of_line_;
  ClaudeIndexer* last_agent_ = nullptr;
  std::string buffer_;  // of JsonView::text()
};

// projects/<folder>/<session>/subagents/agent-<id>.jsonl
FileLayout::Name claude_name(const fs::path& file) {
  const std::string stem = file.stem().native();
  const bool is_agent = stem.starts_with(kAgentPrefix);
  const bool is_below = is_agent && file.parent_path().filename() == kSubagents;
  if (!is_below) {
    return {stem, is_agent};
  }
  return {cat(file.parent_path().parent_path().filename().native(), ":", stem), is_agent};
}

bool is_claude_file(const fs::path& file, const fs::path& location) {
  const std::string_view path = file.native();
  const auto in_projects = [&] {
    return path.substr(0, path.rfind('/')).ends_with("/projects") &&
           file.parent_path() == location / "projects";
  };
  return path.ends_with(kSuffix) && !path.ends_with("/history.jsonl") &&
         !path.ends_with("/journal.jsonl") && !path.ends_with("/.jsonl") && !in_projects();
}

constexpr FileLayout kClaudeFiles = {"projects", 3, is_claude_file, claude_name};

class Claude final : public JsonlTool {
 public:
  explicit Claude(fs::path location) : location_(std::move(location)) {}

  std::string_view name() const override { return "claude"; }
  bool forks_by_copying() const override { return true; }

  std::vector<Located> locate(ReadReport& report) const override {
    return locate_files(location_, kClaudeFiles, report);
  }

  std::unique_ptr<Indexer> index(Transcript& into) const override {
    return std::make_unique<ClaudeIndexer>(into);
  }

  Result<Message> message(const Transcript& /*transcript*/,
                          std::span<const Piece> pieces) const override {
    return claude::message_of(pieces);
  }

 private:
  fs::path location_;
};

}  // namespace

Result<bool> is_claude(const fs::path& location) {
  return has_lines_of(location, 2, is_claude_line);
}

Result<std::unique_ptr<Source>> open_claude(const fs::path& location, const StoreOptions& options) {
  return make_transcript_source(std::make_unique<Claude>(location), location, options);
}

}  // namespace reprise::source
