#include "source/transcript_source.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
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

constexpr std::chrono::seconds kListedFor{2};

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
    std::vector<Located> all = locate(report);
    {
      const std::lock_guard lock(mutex_);
      note_located(all);
    }
    for (Located& located : all) {
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
      if (transcript->is_child && !query.branches) {
        continue;  // which its own lines say
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
    return deliver(*tool_, chosen->indexed->transcript, chosen->branch, range, sink);
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
    REPRISE_ASSIGN(const std::optional<Located> known, find_located(id));
    std::optional<Located> located = known && !agent.empty() ? child_of(*known, agent) : known;
    if (!located) {
      return nullptr;
    }
    ReadReport report;
    tool_->resolve(*located, report);
    REPRISE_ASSIGN(std::vector<FileState> states, states_of(located->parts));
    if (last_ && last_->transcript.session.info.id == located->id && states == last_->states &&
        std::ranges::equal(located->parts, last_->transcript.parts, {}, &FilePart::file,
                           &FilePart::file)) {
      return last_;
    }
    REPRISE_ASSIGN(Transcript transcript, read_index(*tool_, *std::move(located)));
    for (Damage& damage : report.damage) {
      add_damage(transcript.report, std::move(damage));
    }
    last_ = std::make_shared<const Indexed>(Indexed{std::move(transcript), std::move(states)});
    return last_;
  }

  // Reading one session after the other does not list the place each time.
  Result<std::optional<Located>> find_located(std::string_view id) {
    const auto now = std::chrono::steady_clock::now();
    auto found = located_.find(id);
    const bool is_there =
        found != located_.end() && state_of_file(found->second.parts.front().file).has_value();
    const bool has_gone = found != located_.end() && !is_there;
    if (has_gone || !located_at_ || now - *located_at_ > kListedFor) {
      ReadReport unseen;
      note_located(locate(unseen));
      found = located_.find(id);
    }
    return found == located_.end() ? std::nullopt : std::optional(found->second);
  }

  void note_located(const std::vector<Located>& all) {
    located_.clear();
    for (const Located& located : all) {
      located_.insert_or_assign(located.id.str(), located);
    }
    located_at_ = std::chrono::steady_clock::now();
  }

  std::unique_ptr<JsonlTool> tool_;
  SourceCapabilities holds_;
  std::mutex mutex_;
  std::shared_ptr<const Indexed> last_;
  std::map<std::string, Located, std::less<>> located_;
  std::optional<std::chrono::steady_clock::time_point> located_at_;
};

}  // namespace

std::unique_ptr<Source> make_transcript_source(std::unique_ptr<JsonlTool> tool) {
  return std::make_unique<TranscriptSource>(std::move(tool));
}

}  // namespace reprise::source
