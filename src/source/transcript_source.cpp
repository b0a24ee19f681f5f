#include "source/transcript_source.h"

#include <algorithm>
#include <functional>
#include <mutex>
#include <set>

#include "base/text.h"
#include "source/branches.h"
#include "store/query.h"
#include "store/rules.h"

namespace reprise::source {
namespace {

// The index of a session, as long as its files are what they were.
struct Indexed {
  Transcript transcript;
  std::vector<FileState> states;
};

Result<std::vector<FileState>> states_of(const std::vector<FilePart>& parts) {
  std::vector<FileState> states;
  for (const FilePart& part : parts) {
    REPRISE_ASSIGN(const FileState state, state_of_file(part.file));
    states.push_back(state);
  }
  return states;
}

// A session, or one of its left branches.
struct Chosen {
  std::shared_ptr<const Indexed> indexed;
  Session session;
  Branch branch;
};

// May be used from several threads at once.
class TranscriptSource final : public Source {
 public:
  explicit TranscriptSource(std::unique_ptr<JsonlTool> tool) : tool_(std::move(tool)) {
    holds_.new_ids = UuidVersion::v4;
  }

  Result<std::optional<Session>> find(const SessionId& id) override {
    REPRISE_ASSIGN(const std::optional<Chosen> chosen, choose(id));
    return chosen ? std::optional(chosen->session) : std::nullopt;
  }

  Result<SessionPage> list(const SessionQuery& query) override {
    REPRISE_ASSIGN(const store::CheckedQuery checked, store::check_query(query));
    ReadReport report;
    std::vector<SessionInfo> matching;
    const auto take = [&](const SessionInfo& info) {
      if (store::matches(info, checked)) {
        matching.push_back(info);
      }
    };
    for (Located& located : locate(report)) {
      if (located.is_child && !query.branches) {
        continue;
      }
      const std::string where = located.parts.front().file.native();
      tool_->resolve(located, report);
      const auto transcript =
          query.branches ? read_index(*tool_, located) : read_ends(*tool_, located);
      if (!transcript) {
        add_damage(report, {where, transcript.error().message, ""});
        continue;
      }
      if (transcript->is_whole && !has_words(*transcript)) {
        continue;  // nothing was said in it
      }
      take(info_of(*transcript));
      if (query.branches) {
        REPRISE_TRY(take_agents(*transcript, located, take));
      }
      for (const NamedBranch& branch :
           query.branches ? named_branches(transcript->tree) : std::vector<NamedBranch>()) {
        REPRISE_ASSIGN(const Chosen chosen, choose_branch(*transcript, branch));
        take(chosen.session.info);
      }
    }
    SessionPage page = store::make_page(std::move(matching), query);
    page.damage = std::move(report.damage);
    return page;
  }

  Result<ReadReport> read(const SessionId& id, ReadRange range, const MessageSink& sink) override {
    REPRISE_ASSIGN(const std::optional<Chosen> chosen, choose(id));
    if (!chosen) {
      return std::unexpected(store::no_session(id));
    }
    const Transcript& transcript = chosen->indexed->transcript;
    ReadReport report = transcript.report;
    REPRISE_TRY(deliver(*tool_, transcript, chosen->branch, range, sink, report));
    return report;
  }

  const SourceCapabilities& capabilities() const override { return holds_; }

 private:
  // Two files of one name in two folders are two sessions: the second is named after its place,
  // too.
  std::vector<Located> locate(ReadReport& report) const {
    std::vector<Located> all = tool_->locate(report);
    std::set<SessionId> ids;
    for (Located& located : all) {
      if (!ids.insert(located.id).second) {
        const std::string folder = located.parts.front().file.parent_path().native();
        auto id = SessionId::parse(cat(located.id.str(), "@", hex_of(node_id(folder))));
        located.id = std::move(id).value_or(located.id);
      }
    }
    return all;
  }

  static bool has_words(const Transcript& transcript) {
    return std::ranges::any_of(transcript.tree.nodes(),
                               [](const Node& node) { return node.is_message && !node.is_mark; });
  }

  // Those of the sub-agents in the same file.
  Result<> take_agents(const Transcript& transcript, const Located& located,
                       const std::function<void(const SessionInfo&)>& take) const {
    for (const std::string& agent : transcript.agents) {
      const auto child = child_of(located, agent);
      if (child) {
        REPRISE_ASSIGN(const Transcript of_agent, read_index(*tool_, *child));
        take(info_of(of_agent));
      }
    }
    return {};
  }

  // An agent whose name makes no id has no session.
  static std::optional<Located> child_of(Located located, const std::string& agent) {
    auto id = SessionId::parse(cat(located.id.str(), kBranchSeparator, agent));
    if (!id) {
      return std::nullopt;
    }
    located.id = *std::move(id);
    located.agent = agent;
    located.is_child = true;
    located.title.clear();
    return located;
  }

  static SessionInfo info_of(const Transcript& transcript) {
    SessionInfo info = transcript.session.info;
    info.is_head_known = transcript.is_whole;
    return info;
  }

  // "ID" or "ID:BRANCH".
  Result<std::optional<Chosen>> choose(const SessionId& id) {
    REPRISE_ASSIGN(auto indexed, index_of(id.str()));
    if (indexed) {
      return whole(std::move(indexed));
    }
    const std::optional<BranchId> parts = split_branch_id(id);
    if (!parts) {
      return std::optional<Chosen>();
    }
    REPRISE_ASSIGN(indexed, index_of(parts->session));
    if (!indexed) {
      return std::optional<Chosen>();
    }
    const std::string& name = parts->name;
    if (std::ranges::find(indexed->transcript.agents, name) != indexed->transcript.agents.end()) {
      REPRISE_ASSIGN(indexed, index_of(parts->session, name));
      return whole(std::move(indexed));
    }
    for (const NamedBranch& branch : named_branches(indexed->transcript.tree)) {
      if (branch.name == name) {
        REPRISE_ASSIGN(Chosen chosen, choose_branch(indexed->transcript, branch));
        chosen.indexed = std::move(indexed);
        return std::optional(std::move(chosen));
      }
    }
    return std::optional<Chosen>();
  }

  static std::optional<Chosen> whole(std::shared_ptr<const Indexed> indexed) {
    if (!indexed) {
      return std::nullopt;
    }
    const Transcript& transcript = indexed->transcript;
    const auto leaf = transcript.tree.leaf();
    Session session = transcript.session;
    Branch branch = leaf ? transcript.tree.branch(*leaf) : Branch{};
    return Chosen{std::move(indexed), std::move(session), std::move(branch)};
  }

  static Result<Chosen> choose_branch(const Transcript& transcript, const NamedBranch& named) {
    REPRISE_ASSIGN(Session session, session_of_branch(transcript.session, transcript.tree, named));
    return Chosen{nullptr, std::move(session), transcript.tree.branch(named.branch.leaf)};
  }

  // Null when the place has no such session. `agent`: that of a sub-agent in its file.
  Result<std::shared_ptr<const Indexed>> index_of(std::string_view id,
                                                  const std::string& agent = "") {
    const std::lock_guard lock(mutex_);
    const std::string whole_id = cat(id, agent.empty() ? "" : ":", agent);
    if (last_ && last_->transcript.session.info.id.str() == whole_id) {
      const auto states = states_of(last_->transcript.parts);
      if (states && *states == last_->states) {
        return last_;
      }
    }
    ReadReport unseen;
    std::vector<Located> all = locate(unseen);
    const auto found =
        std::ranges::find_if(all, [&](const Located& located) { return located.id.str() == id; });
    if (found == all.end()) {
      return nullptr;
    }
    std::optional<Located> located = agent.empty() ? *found : child_of(*found, agent);
    if (!located) {
      return nullptr;
    }
    ReadReport report;
    tool_->resolve(*located, report);
    REPRISE_ASSIGN(std::vector<FileState> states, states_of(located->parts));
    REPRISE_ASSIGN(Transcript transcript, read_index(*tool_, *std::move(located)));
    for (Damage& damage : report.damage) {
      add_damage(transcript.report, std::move(damage));
    }
    last_ = std::make_shared<const Indexed>(Indexed{std::move(transcript), std::move(states)});
    return last_;
  }

  std::unique_ptr<JsonlTool> tool_;
  SourceCapabilities holds_;
  std::mutex mutex_;
  std::shared_ptr<const Indexed> last_;
};

}  // namespace

std::unique_ptr<Source> make_transcript_source(std::unique_ptr<JsonlTool> tool) {
  return std::make_unique<TranscriptSource>(std::move(tool));
}

}  // namespace reprise::source
