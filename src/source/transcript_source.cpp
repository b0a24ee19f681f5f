#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <span>
#include <unordered_map>

#include "base/file.h"
#include "base/text.h"
#include "base/transient.h"
#include "reprise/capabilities.h"
#include "source/branches.h"
#include "source/line_copies.h"
#include "source/list_cache.h"
#include "source/parallel_for.h"
#include "source/transcript.h"
#include "store/query.h"
#include "store/rules.h"

namespace reprise::source {
namespace {

// What is known of a session from outside its files.
struct ListedMetadata {
  std::string title;
  std::string working_dir;
  bool is_archived = false;
  friend bool operator==(const ListedMetadata&, const ListedMetadata&) = default;
};

ListedMetadata metadata_of(const Located& located) {
  return {located.title, located.working_dir, located.is_archived};
}

// The index of a session, valid while its files and the metadata are unchanged.
struct Indexed {
  Transcript transcript;
  ListedMetadata metadata;
  std::vector<FileState> states;
  Branch current;  // the current branch
  NamedBranches branches;
  std::map<std::string, std::shared_ptr<const Indexed>, std::less<>> agents;  // in the same files
};

std::shared_ptr<const Indexed> make_indexed(Transcript transcript, ListedMetadata metadata,
                                            std::vector<FileState> states) {
  std::map<std::string, std::shared_ptr<const Indexed>, std::less<>> agents;
  for (auto& [name, agent] : std::exchange(transcript.agents, {})) {
    agents.emplace(name, make_indexed(std::move(*agent), metadata, states));
  }
  const auto leaf = transcript.tree.leaf();
  Branch current = leaf ? transcript.tree.branch(*leaf) : Branch{};
  // What a fork's files begin with belongs to the session that was forked.
  NamedBranches branches(transcript.tree, [&transcript](const Node& node) {
    return transcript.parts[node.file].is_inherited;
  });
  return std::make_shared<const Indexed>(Indexed{std::move(transcript), std::move(metadata),
                                                 std::move(states), std::move(current),
                                                 std::move(branches), std::move(agents)});
}

Result<std::vector<FileState>> states_of(const std::vector<FilePart>& parts) {
  std::vector<FileState> states;
  for (const FilePart& part : parts) {
    REPRISE_ASSIGN(const FileState state, state_of_file(part.file));
    states.push_back(state);
  }
  return states;
}

// A session or one of its abandoned branches.
struct Chosen {
  std::shared_ptr<const Indexed> indexed;
  Session session;
  const NamedBranch* branch;  // null for the session
};

constexpr std::chrono::seconds kListingTtl{2};
constexpr std::size_t kIndexedMax = 3;       // sessions read alternately
constexpr std::size_t kFilesPerThread = 32;  // fewer are not worth a thread

// Thread-safe.
class TranscriptSource final : public Source, public OriginalReader {
 public:
  TranscriptSource(std::unique_ptr<JsonlTool> tool, const std::filesystem::path& location,
                   const StoreOptions& options)
      : tool_(std::move(tool)),
        cache_(options.cache_folder, cat(tool_->name(), ":", location.native())) {
    capabilities_.lists_at_once = true;
    capabilities_.new_ids = UuidVersion::v4;
    capabilities_.original_reader = this;
    capabilities_.parallel_reads = true;
  }

  Result<std::optional<Session>> find(const SessionId& id) override {
    REPRISE_ASSIGN(const std::optional<Chosen> chosen, choose(id));
    return chosen ? std::optional(chosen->session) : std::nullopt;
  }

  Result<SessionPage> list(const SessionQuery& query) override {
    REPRISE_ASSIGN(const store::CheckedQuery checked, store::check_query(query, capabilities_));
    ReadReport report;
    std::vector<SharedInfo> matching;
    const auto take = [&](SharedInfo info) {
      if (store::matches(*info, checked)) {
        matching.push_back(std::move(info));
      }
    };
    const std::shared_ptr<const Listing> listing = locate_for(query, report);
    const auto check = [&](const Located& located, const Result<>& taken) {
      if (!taken && taken.error().code != Code::not_found) {  // else it was removed meanwhile
        add_damage(report, {located.parts.front().file.native(), taken.error().message, ""});
      }
    };
    std::vector<ListedHead> listed;
    for (const Located& located : listing->sessions) {
      if (!may_be_listed(located, query)) {
        continue;
      }
      if (query.branches) {
        check(located, take_all(located, take));
      } else {
        listed.push_back({.located = &located});
      }
    }
    find_heads(listed);
    for (ListedHead& session : listed) {
      for (Damage& damage : session.report.damage) {
        add_damage(report, std::move(damage));
      }
      check(*session.located, session.head ? Result<>() : std::unexpected(session.head.error()));
      if (!session.head || !(*session.head)->info ||
          ((*session.head)->is_child && !query.children)) {
        continue;
      }
      SharedHead head = *std::move(session.head);
      check(*session.located, note_fork(*session.located, head));
      if (const auto& info = head->info) {
        take(SharedInfo(head, &*info));
      }
    }
    if (!query.branches) {  // branches need the whole files
      save_cache(*listing);
    }
    SessionPage page = store::make_page(matching, query);
    page.damage = std::move(report.damage);
    return page;
  }

  Result<ReadReport> read(const SessionId& id, ReadRange range, const MessageSink& sink) override {
    REPRISE_ASSIGN(const std::optional<Chosen> chosen, choose(id));
    if (!chosen) {
      return std::unexpected(store::no_session(id));
    }
    const Indexed& indexed = *chosen->indexed;
    const BranchMessages messages(indexed.transcript.tree, indexed.current, chosen->branch);
    return deliver(*tool_, indexed.transcript, messages, range, sink);
  }

  const SourceCapabilities& capabilities() const override { return capabilities_; }

  std::string_view tool() const override { return tool_->name(); }

  Result<std::vector<File>> originals(const SessionId& id) override {
    REPRISE_ASSIGN(const std::shared_ptr<const Indexed> indexed, index_of(id.str()));
    std::vector<File> files;
    for (std::size_t part = 0; has_complete_files(indexed.get()) && part < indexed->states.size();
         ++part) {
      files.push_back(
          {indexed->transcript.parts[part].file.filename().native(), indexed->states[part].bytes});
    }
    return files;
  }

  Result<std::string> read_original(const SessionId& id, std::size_t file, std::int64_t at,
                                    std::size_t count) override {
    REPRISE_ASSIGN(const std::shared_ptr<const Indexed> indexed, index_of(id.str()));
    if (!has_complete_files(indexed.get()) || file >= indexed->states.size()) {
      return fail(Code::not_found, cat("session ", id.str(), " has no such file"));
    }
    const std::filesystem::path& path = indexed->transcript.parts[file].file;
    const std::int64_t remaining = std::max<std::int64_t>(0, indexed->states[file].bytes - at);
    REPRISE_ASSIGN(const Fd fd, open_foreign(path));
    return read_range(fd.get(), at, std::min(count, static_cast<std::size_t>(remaining)), path);
  }

 private:
  using SharedInfo = std::shared_ptr<const SessionInfo>;
  using InfoSink = std::function<void(SharedInfo)>;

  // All sessions of the location. Not moved: by_id points into it.
  struct Listing {
    std::vector<Located> sessions;
    std::unordered_map<std::string_view, const Located*> by_id = {};
    std::chrono::steady_clock::time_point at = std::chrono::steady_clock::now();
  };

  // Tries again what fails, which may be gone then: with a part of its files a session would be
  // another one.
  std::shared_ptr<const Listing> locate(ReadReport& report) const {
    ReadReport found;
    auto listing = locate_once(found);
    if (found.damaged > 0) {
      found = {};
      listing = locate_once(found);
    }
    for (Damage& damage : found.damage) {
      add_damage(report, std::move(damage));
    }
    return listing;
  }

  // Files of the same name in two folders are two sessions: the second id gets a hash of its
  // folder.
  std::shared_ptr<const Listing> locate_once(ReadReport& report) const {
    auto listing = std::make_shared<Listing>(Listing{tool_->locate(report)});
    for (Located& located : listing->sessions) {
      if (listing->by_id.contains(located.id.str())) {
        located.id = session_id_in_folder(located.id.str(), located.parts.front().file);
      }
      listing->by_id.insert_or_assign(located.id.str(), &located);
    }
    return listing;
  }

  // False if neither the session nor any branch of it can have an id with the query's prefix.
  static bool may_match(const Located& located, const SessionQuery& query) {
    const std::string& id = located.id.str();
    const std::string_view prefix = query.id_prefix;
    return id.starts_with(prefix) ||
           (prefix.starts_with(id) && prefix.substr(id.size()).starts_with(kBranchSeparator));
  }

  static bool may_be_listed(const Located& located, const SessionQuery& query) {
    return may_match(located, query) && (!located.is_child || query.branches || query.children);
  }

  struct ListedHead {
    const Located* located;
    Result<SharedHead> head = nullptr;
    ReadReport report = {};
  };

  void find_heads(std::span<ListedHead> listed) {
    parallel_for(listed.size(), kFilesPerThread, [&](std::size_t i) {
      listed[i].head = find_head(*listed[i].located, listed[i].report);
    });
  }

  // From the cache or from the ends of the session's files.
  Result<SharedHead> find_head(const Located& located, ReadReport& report) {
    if (!cache_.contains(located.id)) {
      return read_head(located, std::nullopt, report);
    }
    const HeadState state = state_of(located);
    SharedHead head = cache_.find(located.id, state);
    if (!head) {
      return read_head(located, state, report);
    }
    copies_.note_first_message(located, head->first_message);
    return head;
  }

  // Sets the origin of a session that was forked by copying.
  Result<> note_fork(const Located& located, SharedHead& head) {
    REPRISE_ASSIGN(const std::vector<Located> copies, copies_.copies_of(located));
    if (copies.empty()) {
      return {};
    }
    const std::optional<std::uint64_t> state = CopyIndex::state_of(copies).take();
    CachedHead fork = *head;
    if (!state || head->copies_state != *state) {
      REPRISE_ASSIGN(const std::shared_ptr<const Indexed> indexed, load(located));
      fork.copied_from = indexed->transcript.session.info.forked_from;
      fork.copies_state = state.value_or(0);
      const HeadState own = state_of(located);
      if (cache_.find(located.id, own)) {  // else it must not be cached
        cache_.put(located.id, own, fork);
      }
    }
    if (fork.info) {
      fork.info->forked_from = fork.copied_from;
    }
    head = std::make_shared<const CachedHead>(std::move(fork));
    return {};
  }

  Result<std::uint64_t> read_first_message(const Located& located) {
    ReadReport ignored;
    const auto head = find_head(located, ignored);
    if (!head && is_transient(head.error())) {
      return std::unexpected(head.error());
    }
    return head ? (*head)->first_message : 0;
  }

  // Visits the sessions of the last listing.
  void each_located(const CopyIndex::Visit& visit) {
    const std::lock_guard lock(mutex_);
    if (listing_) {
      std::ranges::for_each(listing_->sessions, visit);
    }
  }

  static std::string revision_of(HeadState state, const std::vector<std::filesystem::path>& files) {
    for (const std::filesystem::path& file : files) {
      state.add_file(file);
    }
    return state.revision();
  }

  // Files that a session is read from, other than those that identify it.
  std::vector<std::filesystem::path> other_files(const Located& located,
                                                 const std::vector<FilePart>& parts) const {
    std::vector<std::filesystem::path> files = tool_->sidecar_files(located);
    for (const FilePart& part : parts) {
      if (std::ranges::find(located.parts, part.file, &FilePart::file) == located.parts.end()) {
        files.push_back(part.file);
      }
    }
    return files;
  }

  static HeadState state_of(const Located& located) {
    return state_of(located, [](const FilePart& part) { return state_of_file(part.file); });
  }
  // Before its files were read.
  static HeadState state_of(const Located& located, const Transcript& opened) {
    return state_of(located, [&opened](const FilePart& part) {
      const auto at = std::ranges::find(opened.parts, part.file, &FilePart::file);
      const std::optional<FileState> state =
          at == opened.parts.end()
              ? std::nullopt
              : opened.states[static_cast<std::size_t>(at - opened.parts.begin())];
      return state ? Result<FileState>(*state) : state_of_file(part.file);
    });
  }
  template <class StateOf>
  static HeadState state_of(const Located& located, const StateOf& state_of_part) {
    HeadState state;
    state.add(located.is_archived ? "archived " : "");
    state.add(located.title);
    state.add(located.working_dir);
    for (const FilePart& part : located.parts) {
      state.add(cat(part.begin, " ", part.end));
      state.add_file(part.file, state_of_part(part));
    }
    return state;
  }

  // Damaged files are not cached, so that each listing reports the damage.
  // Without a state, it is that of the files before they are read.
  Result<SharedHead> read_head(const Located& located, std::optional<HeadState> state,
                               ReadReport& report) {
    const std::int64_t damaged = report.damaged;
    Located resolved = located;
    REPRISE_TRY(tool_->resolve(resolved, report));
    CachedHead head{.files = other_files(located, resolved.parts)};
    REPRISE_ASSIGN(const Transcript transcript, read_ends(*tool_, resolved));
    head.is_child = transcript.is_child;  // may be known only from its lines
    head.first_message = transcript.first_message;
    if (!transcript.is_whole || has_conversation(transcript)) {
      head.info = info_of(transcript);
    }
    copies_.note_first_message(located, head.first_message);
    const bool is_intact = report.damaged == damaged && transcript.report.damaged == 0;
    // A line is a small part; of a document, most may be gone.
    if (located.parts.front().file.extension() == ".json") {
      for (const Damage& damage : transcript.report.damage) {
        add_damage(report, damage);
      }
    }
    state = state ? state : state_of(located, transcript);
    return is_intact ? cache_.put(located.id, *state, std::move(head))
                     : ListCache::share(*state, std::move(head));
  }

  void save_cache(const Listing& listing) {
    cache_.save([&](std::string_view id) { return listing.by_id.contains(id); });
  }

  // Lists a session with its branches and the sub-agents in the same file.
  Result<> take_all(const Located& located, const InfoSink& take_info) {
    const HeadState state = state_of(located);
    REPRISE_ASSIGN(const std::shared_ptr<const Indexed> indexed, load(located));
    const Transcript& transcript = indexed->transcript;
    if (!has_conversation(transcript)) {
      return {};  // no conversation took place
    }
    const std::string revision = revision_of(state, other_files(located, transcript.parts));
    const auto take = [&](SessionInfo info) {
      info.revision = revision;
      take_info(std::make_shared<const SessionInfo>(std::move(info)));
    };
    take(info_of(transcript));
    for (const auto& [name, agent] : indexed->agents) {
      take(info_of(agent->transcript));
    }
    for (const NamedBranch& branch : indexed->branches.all()) {
      REPRISE_ASSIGN(Session session, session_of_branch(transcript.session, branch));
      take(std::move(session.info));
    }
    return {};
  }

  // Whether its files are the whole session: not if it begins in those of the session that it was
  // forked from.
  static bool has_complete_files(const Indexed* indexed) {
    return indexed != nullptr &&
           std::ranges::none_of(indexed->transcript.parts, &FilePart::is_inherited);
  }

  // Reuses a recent listing for queries about one session.
  std::shared_ptr<const Listing> locate_for(const SessionQuery& query, ReadReport& report) {
    const std::lock_guard lock(mutex_);
    if (query.id_prefix.empty() || !has_recent_listing()) {
      ReadReport ignored;  // not reported for a query about one session
      note_listing(locate(query.id_prefix.empty() ? report : ignored));
    }
    return listing_;
  }

  bool has_recent_listing() const {
    return listing_ && std::chrono::steady_clock::now() - listing_->at <= kListingTtl;
  }

  static bool has_conversation(const Transcript& transcript) {
    return std::ranges::any_of(transcript.tree.nodes(), [](const Node& node) {
      return node.is_message && !node.is_injected;
    });
  }

  static SessionInfo info_of(const Transcript& transcript) {
    SessionInfo info = transcript.session.info;
    info.is_head_known = transcript.is_whole;
    return info;
  }

  // `id` is "ID" or "ID:BRANCH".
  Result<std::optional<Chosen>> choose(const SessionId& id) {
    REPRISE_ASSIGN(auto indexed, index_of(id.str()));
    if (indexed) {
      return chosen_session(std::move(indexed));
    }
    // The name of a sub-agent may contain the separator, too.
    for (auto parts = split_branch_id(id); parts;
         parts = split_branch_id(id, parts->session.size())) {
      REPRISE_ASSIGN(std::optional<Chosen> chosen, choose_part(*parts));
      if (chosen) {
        return chosen;
      }
    }
    return std::optional<Chosen>();
  }

  // A sub-agent or an abandoned branch.
  Result<std::optional<Chosen>> choose_part(const BranchId& parts) {
    REPRISE_ASSIGN(const auto indexed, index_of(parts.session));
    if (!indexed) {
      return std::optional<Chosen>();
    }
    if (const auto agent = indexed->agents.find(parts.name); agent != indexed->agents.end()) {
      return chosen_session(agent->second);
    }
    const NamedBranch* const branch = indexed->branches.find(parts.name);
    if (branch == nullptr) {
      return std::optional<Chosen>();
    }
    REPRISE_ASSIGN(Session session, session_of_branch(indexed->transcript.session, *branch));
    return std::optional(Chosen{indexed, std::move(session), branch});
  }

  static std::optional<Chosen> chosen_session(std::shared_ptr<const Indexed> indexed) {
    if (!indexed) {
      return std::nullopt;
    }
    Session session = indexed->transcript.session;
    return Chosen{std::move(indexed), std::move(session), nullptr};
  }

  // Null if there is no such session.
  Result<std::shared_ptr<const Indexed>> index_of(std::string_view id) {
    REPRISE_ASSIGN(std::optional<Located> located, find_located(id));
    return located ? load(*std::move(located)) : std::shared_ptr<const Indexed>();
  }

  // Does not hold the mutex while reading, so that other threads can load other sessions.
  Result<std::shared_ptr<const Indexed>> load(Located located) {
    ReadReport report;
    REPRISE_TRY(tool_->resolve(located, report));
    REPRISE_ASSIGN(located.copied_from, copies_.find_copied_from(located));
    REPRISE_ASSIGN(std::vector<FileState> states, states_of(located.parts));
    if (auto loaded = find_loaded(located, states)) {
      return loaded;
    }
    ListedMetadata metadata = metadata_of(located);
    REPRISE_ASSIGN(Transcript transcript,
                   read_index(*tool_, std::move(located), Records::retained));
    for (Damage& damage : report.damage) {
      add_damage(transcript.report, std::move(damage));
    }
    auto indexed = make_indexed(std::move(transcript), std::move(metadata), std::move(states));
    const std::lock_guard lock(mutex_);
    std::erase_if(loaded_, [&](const auto& older) {
      return older->transcript.session.info.id == indexed->transcript.session.info.id;
    });
    loaded_.push_front(indexed);
    loaded_.resize(std::min(loaded_.size(), kIndexedMax));
    return indexed;
  }

  std::shared_ptr<const Indexed> find_loaded(const Located& located,
                                             const std::vector<FileState>& states) {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find_if(loaded_, [&](const auto& indexed) {
      const Transcript& transcript = indexed->transcript;
      const bool is_same_fork =
          !located.copied_from || transcript.fork_of == located.copied_from->session;
      return transcript.session.info.id == located.id && states == indexed->states &&
             indexed->metadata == metadata_of(located) && is_same_fork &&
             std::ranges::equal(located.parts, transcript.parts, {}, &FilePart::file,
                                &FilePart::file);
    });
    if (found == loaded_.end()) {
      return nullptr;
    }
    std::rotate(loaded_.begin(), found, std::next(found));  // move to front
    return loaded_.front();
  }

  // Reuses a recent listing.
  Result<std::optional<Located>> find_located(std::string_view id) {
    const std::lock_guard lock(mutex_);
    const Located* found = find_listed(id);
    const bool has_gone = found != nullptr && !state_of_file(found->parts.front().file).has_value();
    if (has_gone || !has_recent_listing()) {
      ReadReport ignored;
      note_listing(locate(ignored));
      found = find_listed(id);
    }
    return found == nullptr ? std::nullopt : std::optional(*found);
  }

  const Located* find_listed(std::string_view id) const {
    if (!listing_) {
      return nullptr;
    }
    const auto found = listing_->by_id.find(id);
    return found == listing_->by_id.end() ? nullptr : found->second;
  }

  void note_listing(std::shared_ptr<const Listing> listing) {
    listing_ = std::move(listing);
    copies_.note_listing();
  }

  std::unique_ptr<JsonlTool> tool_;
  ListCache cache_;
  CopyIndex copies_{*tool_,
                    {[this](const CopyIndex::Visit& visit) { each_located(visit); },
                     [this](const Located& located) { return read_first_message(located); }}};
  SourceCapabilities capabilities_;
  std::mutex mutex_;
  std::deque<std::shared_ptr<const Indexed>> loaded_;  // most recently used first
  std::shared_ptr<const Listing> listing_;             // the last one; may be null
};

}  // namespace

std::unique_ptr<Source> make_transcript_source(std::unique_ptr<JsonlTool> tool,
                                               const std::filesystem::path& location,
                                               const StoreOptions& options) {
  return std::make_unique<TranscriptSource>(std::move(tool), location, options);
}

}  // namespace reprise::source
