#include "source/tool_source.h"

#include <expected>
#include <memory>
#include <mutex>
#include <set>

#include "base/encode.h"
#include "base/text.h"
#include "source/branches.h"
#include "source/file.h"
#include "source/values.h"
#include "source/words.h"
#include "store/query.h"
#include "store/rules.h"
#include "store/usage_sum.h"

namespace reprise::source {
namespace {

// A session with its branches, valid while `state` is the tool's.
struct OpenTree {
  SessionId id;
  std::string state;
  std::shared_ptr<const OpenSession> open;
  Branch current;  // the current branch
  NamedBranches branches;
};

// The revision of a session in a database, which counts its messages.
std::string revision_of(const SessionInfo& info) {
  const std::string parts =
      cat(to_string(info.state), " ", info.head.value, " ",
          info.updated_at.time_since_epoch().count(), " ", info.working_dir, "\n", info.title);
  return cat(fnv1a(parts));
}

// A session or one of its abandoned branches.
struct ChosenBranch {
  std::shared_ptr<const OpenTree> tree;
  Session session;
  const NamedBranch* branch;  // null for the session
};

// Thread-safe.
class ToolSource final : public Source, public TodoReader {
 public:
  explicit ToolSource(std::unique_ptr<Tool> tool) : tool_(std::move(tool)) {
    capabilities_.lists_at_once = true;
    capabilities_.new_ids = UuidVersion::v4;
    capabilities_.todo_reader = this;
  }

  Result<std::optional<Session>> find(const SessionId& id) override {
    const std::lock_guard lock(mutex_);
    REPRISE_ASSIGN(const std::optional<ChosenBranch> chosen, choose(id));
    return chosen ? std::optional(chosen->session) : std::nullopt;
  }

  Result<SessionPage> list(const SessionQuery& query) override {
    REPRISE_ASSIGN(const store::CheckedQuery checked, store::check_query(query, capabilities_));
    const std::lock_guard lock(mutex_);
    ReadReport report;
    std::vector<SessionInfo> matching;
    const auto take = [&](SessionInfo& info) {
      if (info.revision.empty()) {
        info.revision = revision_of(info);
      }
      if (store::matches(info, checked)) {
        matching.push_back(std::move(info));
      }
    };
    // Only the branches of one session are queried: no need to list the others.
    const auto session = session_in_prefix(query);
    std::vector<Listed> sessions;
    if (session) {
      for (Session& branch : branches_of(*session, report)) {
        take(branch.info);
      }
    } else {
      REPRISE_ASSIGN(sessions, tool_->list(report));
    }
    for (Listed& listed : sessions) {
      const std::string& id = listed.info.id.str();
      const bool may_match =
          id.starts_with(query.id_prefix) || query.id_prefix.starts_with(cat(id, kBranchSeparator));
      if (!may_match || (listed.is_child && !query.branches && !query.children)) {
        continue;
      }
      if (query.branches) {
        for (Session& branch : branches_of(listed.info.id, report)) {
          take(branch.info);
        }
      }
      take(listed.info);
    }
    SessionPage page = store::make_page(std::move(matching), query);
    page.damage = std::move(report.damage);
    return page;
  }

  Result<ReadReport> read(const SessionId& id, ReadRange range, const MessageSink& sink) override {
    std::unique_lock lock(mutex_);
    REPRISE_ASSIGN(const std::optional<ChosenBranch> chosen, choose(id));
    if (!chosen) {
      return std::unexpected(store::no_session(id));
    }
    const OpenSession& open = *chosen->tree->open;
    const BranchMessages messages(open.tree, chosen->tree->current, chosen->branch);
    ReadReport report = open.report;
    const auto [from, to] = store::clamp(range, chosen->session.info.head);
    for (std::int64_t i = from; i < to; ++i) {
      const std::int64_t seq = range.newest_first ? to - 1 - (i - from) : i;
      auto message = message_at(open, messages, seq);
      if (!message) {
        REPRISE_TRY(report_damage(report, cat("session ", id.str(), ": message ", seq),
                                  std::move(message).error()));
        continue;
      }
      message->seq = Seq{seq};
      lock.unlock();  // the sink may call this source
      if (sink(*std::move(message)) == Flow::stop) {
        return report;
      }
      lock.lock();
    }
    return report;
  }

  Result<std::vector<Todo>> todos(const SessionId& id) override {
    const std::lock_guard lock(mutex_);
    REPRISE_ASSIGN(const std::optional<ChosenBranch> chosen, choose(id));
    return chosen ? chosen->tree->open->todos : std::unexpected(store::no_session(id));
  }

  const SourceCapabilities& capabilities() const override { return capabilities_; }

 private:
  static Result<Message> message_at(const OpenSession& open, const BranchMessages& branch,
                                    std::int64_t seq) {
    std::vector<Node> nodes;
    for (const std::uint32_t index : branch.message(static_cast<std::size_t>(seq))) {
      nodes.push_back(open.tree.nodes()[index]);
    }
    REPRISE_ASSIGN(Message message, open.message(nodes));
    for (const Node& node : nodes) {
      if (node.usage != 0) {
        message.usage = open.usages[node.usage - 1];
      }
    }
    mark_task(open.is_child, message);
    mark_program_texts(message);
    return message;
  }

  // The session if the prefix is "ID:", which the ids of its branches start with.
  static std::optional<SessionId> session_in_prefix(const SessionQuery& query) {
    std::string_view prefix = query.id_prefix;
    if (!query.branches || !prefix.ends_with(kBranchSeparator)) {
      return std::nullopt;
    }
    prefix.remove_suffix(1);
    auto id = SessionId::parse(prefix);
    return id ? std::optional(*std::move(id)) : std::nullopt;
  }

  std::vector<Session> branches_of(const SessionId& id, ReadReport& report) {
    std::vector<Session> branches;
    const auto indexed = index_of(id);
    if (!indexed) {
      add_damage(report, {cat("session ", id.str()), indexed.error().message, ""});
      return branches;
    }
    for (const NamedBranch& named :
         *indexed ? (*indexed)->branches.all() : std::span<const NamedBranch>()) {
      if (auto session = session_of_branch((*indexed)->open->session, named)) {
        branches.push_back(*std::move(session));
      } else {
        add_damage(report, {cat("session ", id.str()), session.error().message, ""});
      }
    }
    return branches;
  }

  // `id` is "ID" or "ID:BRANCH".
  Result<std::optional<ChosenBranch>> choose(const SessionId& id) {
    REPRISE_ASSIGN(auto indexed, index_of(id));
    if (indexed) {
      Session session = indexed->open->session;
      return std::optional(ChosenBranch{std::move(indexed), std::move(session), nullptr});
    }
    const auto parts = split_branch_id(id);
    const auto session = parts ? SessionId::parse(parts->session) : Result<SessionId>(id);
    if (!parts || !session) {
      return std::optional<ChosenBranch>();
    }
    REPRISE_ASSIGN(indexed, index_of(*session));
    const NamedBranch* const named = indexed ? indexed->branches.find(parts->name) : nullptr;
    if (named == nullptr) {
      return std::optional<ChosenBranch>();
    }
    REPRISE_ASSIGN(Session fork, session_of_branch(indexed->open->session, *named));
    return std::optional(ChosenBranch{std::move(indexed), std::move(fork), named});
  }

  // Null if there is no such session.
  Result<std::shared_ptr<const OpenTree>> index_of(const SessionId& id) {
    std::string state = tool_->state_of(id);
    if (last_ && last_->id == id && last_->state == state) {
      return last_;
    }
    REPRISE_ASSIGN(auto open, tool_->open(id));
    if (!open) {
      return nullptr;
    }
    const auto leaf = open->tree.leaf();
    Branch current = leaf ? open->tree.branch(*leaf) : Branch{};
    NamedBranches branches(open->tree);
    last_ = std::make_shared<const OpenTree>(
        OpenTree{id, std::move(state), std::move(open), std::move(current), std::move(branches)});
    return last_;
  }

  std::unique_ptr<Tool> tool_;
  SourceCapabilities capabilities_;
  std::mutex mutex_;
  // The last opened session, as a find is usually followed by a read.
  std::shared_ptr<const OpenTree> last_;
};

}  // namespace

Node node_in(std::string_view text, JsonView message) {
  Node node{.at = message.raw().data() - text.data(),
            .bytes = static_cast<std::int32_t>(message.raw().size())};
  node.is_message = true;
  return node;
}

JsonView json_at(std::string_view text, const Node& node) {
  return JsonView(
      text.substr(static_cast<std::size_t>(node.at), static_cast<std::size_t>(node.bytes)));
}

void count_messages(OpenSession& session) {
  const auto leaf = session.tree.leaf();
  const Branch branch = leaf ? session.tree.branch(*leaf) : Branch{};
  session.session.info.head = Seq{static_cast<std::int64_t>(branch.size())};
  if (session.usages.empty()) {
    return;
  }
  for (std::size_t i = 0; i < session.usages.size(); ++i) {
    std::string& id = session.usages[i].request_id;
    id = id.empty() ? cat(session.session.info.id.str(), "#", i) : std::move(id);
  }
  std::set<std::string> counted;
  session.session.usage = {};
  for (const std::uint32_t index : branch.nodes) {
    const std::uint32_t number = session.tree.nodes()[index].usage;
    if (number == 0) {
      continue;
    }
    const Usage& usage = session.usages[number - 1];
    if (usage.request_id.empty() || counted.insert(usage.request_id).second) {
      store::add_usage(session.session.usage, usage);
    }
  }
}

void complete_title(OpenSession& session) {
  complete_title(session.session.info, session.tree, [&](std::span<const std::uint32_t> indexes) {
    std::vector<Node> nodes;
    for (const std::uint32_t index : indexes) {
      nodes.push_back(session.tree.nodes()[index]);
    }
    return session.message(nodes);
  });
}

std::unique_ptr<Source> make_tool_source(std::unique_ptr<Tool> tool) {
  return std::make_unique<ToolSource>(std::move(tool));
}

}  // namespace reprise::source
