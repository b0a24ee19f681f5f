#include "session/import.h"

#include <algorithm>
#include <deque>
#include <future>
#include <set>
#include <thread>

#include "base/assert.h"
#include "base/text.h"
#include "base/transient.h"
#include "engine/copy.h"
#include "reprise/capabilities.h"
#include "reprise/sessions.h"
#include "session/import_view.h"
#include "session/imported_copies.h"
#include "store/usage_sum.h"

namespace reprise {
namespace {

using imports::choose_fork;
using imports::ChosenFork;
using imports::count_equal;
using imports::find_untrashed;
using imports::hash_texts;
using imports::id_in;
using imports::ImportView;
using imports::is_branch;
using imports::is_seen;
using imports::stored_title;

constexpr std::string_view kOwnExports = "exported";  // the scheme of Reprise's own exports
// While another process changes the same session.
constexpr int kAttemptsMax = 6;
constexpr std::chrono::milliseconds kPause{1};  // doubled each time
constexpr std::size_t kImportsAtOnce = 3;

using SessionIds = std::set<std::string_view>;

class Import {
 public:
  Import(const ForeignSessions& foreign, Store& target, const SessionInfo& info,
         std::stop_token stop)
      : foreign_(foreign),
        source_(foreign.source),
        tool_(foreign.tool),
        target_(target),
        info_(info),
        stop_(std::move(stop)),
        view_(source_, tool_, target, info.id) {}

  // With the branches, except those that `listed` imports on their own. The session is finished
  // last, so that an interrupted import is repeated.
  Result<ImportedSession> run_with_branches(const SessionIds& listed) {
    auto imported = copy_with_branches(listed);
    archive_again(imported.has_value());
    return imported;
  }

 private:
  enum class Extent : std::uint8_t { whole, incomplete };

  Result<ImportedSession> copy_with_branches(const SessionIds& listed) {
    REPRISE_ASSIGN(ImportedSession imported, copy());
    if (imported.was_read) {
      const ImportedSession own = imported;
      REPRISE_ASSIGN(const Extent extent, add_branches(imported, listed));
      REPRISE_TRY(finish(own, extent));
    }
    return imported;
  }

  Result<ImportedSession> run() {
    auto imported = copy_and_finish();
    archive_again(imported.has_value());
    return imported;
  }

  Result<ImportedSession> copy_and_finish() {
    REPRISE_ASSIGN(ImportedSession imported, copy());
    REPRISE_TRY(imported.was_read ? finish(imported, Extent::whole) : Result<>());
    return imported;
  }

  Result<ImportedSession> copy() {
    REPRISE_ASSIGN(SessionId id, id_in(target_, tool_, info_.id.str()));
    stored_.push_back(id);
    REPRISE_ASSIGN(const std::optional<Session> present, find_untrashed(target_, id));
    ImportedSession imported{.outcome = CopyOutcome::unchanged,
                             .messages = 0,
                             .id = id,
                             .damage = {},
                             .was_read = false};
    if (present && present->info.state == SessionState::trashed) {
      return imported;  // trashed by the user
    }
    first_ = id;
    const Origin origin = present ? origin_of(*present).value_or(Origin{}) : Origin{};
    noted_fork_ = origin.fork;
    imported_before_ = origin.head;
    const bool is_to_be_archived = present && was_left_active(*present);
    if (present && is_seen(*present, info_) && !is_to_be_archived) {
      return imported;
    }
    imported.was_read = true;
    const bool is_new = !present;
    if (present) {
      if (is_to_be_archived || present->info.state == SessionState::archived) {
        view_.set_state(SessionState::archived);
      } else if (origin.seen_at != Time{} || !origin.revision.empty()) {
        view_.set_state(present->info.state);  // unless the first import was interrupted
      }
      if (present->info.state == SessionState::archived) {
        REPRISE_TRY(unarchive(*present));
      }
    } else {
      REPRISE_ASSIGN(const bool is_own, is_own_export());
      if (is_own) {
        imported.id = info_.id;
        imported.was_read = false;
        return imported;
      }
      REPRISE_ASSIGN(is_shared_, share(id));
      if (is_shared_) {
        return imported;
      }
    }
    REPRISE_TRY(copy_messages(std::move(id), imported));
    if (is_new && imported.outcome == CopyOutcome::continued) {
      imported.outcome = CopyOutcome::copied;  // share() created it
    }
    return imported;
  }

  // Whether an import that was killed has not archived it again.
  bool was_left_active(const Session& present) const {
    return origin_of(present).value_or(Origin{}).is_archived &&
           present.info.state != SessionState::archived &&
           target_.capabilities().archives != nullptr;
  }

  // Continues the stored copy, or a fork of it where the messages differ.
  Result<> copy_messages(SessionId id, ImportedSession& imported) {
    std::optional<ForkOrigin> fork;
    bool is_new = true;
    for (;;) {
      view_.show_as(id, fork);
      const bool is_first = id == first_;
      if (id != stored_.back()) {
        stored_.push_back(id);
      }
      REPRISE_ASSIGN(const CopiedSession copied,
                     copy_session(view_, target_, id,
                                  // finish() writes to the session, not always to its forks
                                  {.stop = stop_,
                                   .durability = is_first ? Durability::os : Durability::disk,
                                   .by_content = true}));
      if ((is_first || is_new) && view_.is_archived()) {
        to_archive_.insert(id);
      }
      imported.id = id;
      imported.messages += copied.messages;
      imported.damage = copied.damage;
      imported.detail = copied.detail;
      is_shorter_ = is_first ? copied.differs && *copied.differs < imported_before_ : is_shorter_;
      if (copied.outcome != CopyOutcome::conflict || !copied.differs || !copied.differing) {
        imported.outcome = fork && imported.messages > 0 ? CopyOutcome::forked : copied.outcome;
        return {};
      }
      REPRISE_ASSIGN(std::optional<ChosenFork> next,
                     choose_fork({target_, tool_, info_.id},
                                 {id, *copied.differs, *copied.differing}, stored_, noted_fork_));
      if (!next || std::ssize(stored_) > imports::kForksMax) {
        imported.outcome = CopyOutcome::conflict;
        imported.detail += ", and it has too many forks";
        return {};
      }
      imported.detail.clear();
      if (next->present && next->present->info.state == SessionState::trashed) {
        is_left_ = true;  // by the user, in the trash
        return {};
      }
      is_new = !next->present;
      REPRISE_TRY(is_new ? begin_fork(id, *copied.differs, next->id) : open_fork(*next->present));
      fork.reset();
      if (copied.differs->value > 0) {  // else it is another session with the same id
        fork = ForkOrigin{id, *copied.differs};
      }
      id = std::move(next->id);
    }
  }

  // Whether a session of this store was exported to the tool under its own id, and not continued
  // there.
  Result<bool> is_own_export() {
    REPRISE_ASSIGN(const std::optional<Session> own, target_.find(info_.id));
    if (!own || own->info.state == SessionState::trashed) {
      return false;
    }
    REPRISE_ASSIGN(const std::vector<std::uint64_t> ours, hash_texts(target_, info_.id));
    REPRISE_ASSIGN(const std::vector<std::uint64_t> theirs, hash_texts(source_, info_.id));
    return std::ranges::mismatch(ours, theirs).in2 == theirs.end();
  }

  // It may be read-only while it is archived.
  Result<> unarchive(const Session& present) {
    const SessionId& id = present.info.id;
    REPRISE_TRY(target_.capabilities().archives->unarchive(id));
    unarchived_.push_back(id);
    const auto origin = origin_of(present);
    return origin && origin->is_archived
               ? Result<>()
               : change_origin(id, [](Origin& noted) { noted.is_archived = true; });
  }

  // A fork remains in its own state.
  Result<> open_fork(const Session& present) {
    const bool is_archived = present.info.state == SessionState::archived;
    if (is_archived || was_left_active(present)) {
      to_archive_.insert(present.info.id);
    }
    return is_archived ? unarchive(present) : Result<>();
  }

  void archive_again(bool is_finished) {
    for (const SessionId& id : is_finished ? std::vector<SessionId>() : unarchived_) {
      // If this fails, too, the next import archives it.
      (void)target_.capabilities().archives->archive(id, info_.updated_at);
    }
  }

  // Notes what was imported, that the session was if this is all of it, and archives it: last,
  // so that an import that is killed is repeated.
  Result<> finish(const ImportedSession& imported, Extent extent) {
    if (is_shared_ || !first_) {
      return {};
    }
    const SessionId first = *first_;
    const bool is_itself = imported.id == first;
    const bool has_messages = imported.outcome != CopyOutcome::conflict && !is_left_;
    const bool is_done = has_messages && extent == Extent::whole;
    bool is_noted = false;
    if (has_messages) {
      REPRISE_TRY(take_title(imported.id));
      REPRISE_TRY(note_shorter(first, is_itself));
      REPRISE_ASSIGN(const bool is_complete, note_complete(imported.id, is_itself && is_done));
      is_noted = is_complete && is_itself;
    }
    for (const SessionId& id : to_archive_) {
      REPRISE_TRY(id == first ? Result<>() : archive(id));
    }
    REPRISE_TRY(is_noted ? Result<>() : change_origin(first, [&](Origin& origin) {
      if (is_done) {
        note_seen_in(origin);
      }
      if (has_messages) {
        origin.fork = is_itself ? "" : imported.id.str();
      }
    }));
    return to_archive_.contains(first) ? archive(first) : Result<>();
  }

  Result<> archive(const SessionId& id) {
    Archives* const archives = target_.capabilities().archives;
    return archives == nullptr ? Result<>() : archives->archive(id, info_.updated_at);
  }

  // Imports what the tool lists as its branches, and the sub-agents in the same file. One that
  // fails does not prevent the others, unless the cause may be the same.
  Result<Extent> add_branches(ImportedSession& imported, const SessionIds& listed) {
    REPRISE_ASSIGN(const FoundSessions found, find_branches(source_, info_.id));
    imported.is_whole = found.damage.empty();
    has_branches_ = !found.sessions.empty() || !found.damage.empty();
    Extent extent = imported.is_whole ? Extent::whole : Extent::incomplete;
    for (const Damage& part : found.damage) {
      imported.damage.push_back(cat(part.where, ": ", part.reason));
    }
    std::set<std::string> reported(imported.damage.begin(), imported.damage.end());
    Result<> failure;
    for (const SessionInfo& branch : found.sessions) {
      if (is_part_of(listed, branch.id)) {
        continue;
      }
      Import import(foreign_, target_, branch, stop_);
      import.stored_ = stored_;
      auto added = import.run();
      if (!added && is_transient(added.error())) {
        return std::unexpected(added.error());
      }
      if (!added && failure) {
        failure = std::unexpected(added.error());
      }
      if (added && !take_branch(imported, *std::move(added), reported)) {
        extent = Extent::incomplete;
      }
      extent = import.is_left_ ? Extent::incomplete : extent;
    }
    REPRISE_TRY(failure);
    return extent;
  }

  // Adds what was imported of a branch; false if that is not all. Most damage is in shared lines.
  static bool take_branch(ImportedSession& imported, ImportedSession&& branch,
                          std::set<std::string>& reported) {
    imported.messages += branch.messages;
    for (std::string& part : branch.damage) {
      if (reported.insert(part).second) {
        imported.damage.push_back(std::move(part));
      }
    }
    if (branch.outcome == CopyOutcome::conflict) {
      imported.outcome = branch.outcome;
      imported.detail = cat("a branch: ", branch.detail);
    }
    return branch.outcome != CopyOutcome::conflict;
  }

  // Whether it is one of these sessions, or a branch of one, other than of this session.
  bool is_part_of(const SessionIds& listed, const SessionId& branch) const {
    std::string_view id = branch.str();
    while (id.size() > info_.id.str().size() && !listed.contains(id)) {
      id = id.substr(0, id.rfind(':'));
    }
    return id.size() > info_.id.str().size();
  }

  // A tool that goes back to an earlier message keeps what followed as a branch.
  Result<> note_shorter(const SessionId& first, bool is_itself) {
    if (imported_before_ == Seq{}) {
      return {};
    }
    if (is_itself) {
      REPRISE_ASSIGN(const Session foreign, get(source_, info_.id));
      is_shorter_ = foreign.info.head < imported_before_;
    }
    return change_origin(first, [&](Origin& origin) {
      origin.gone = is_shorter_ && !has_branches_ ? Gone::messages : Gone::nothing;
    });
  }

  void note_seen_in(Origin& origin) const {
    origin.seen_at = info_.updated_at;
    origin.revision = info_.revision;
  }

  // A session that was renamed in the tool, and not in the store.
  Result<> take_title(const SessionId& id) {
    REPRISE_ASSIGN(const Session foreign, get(source_, info_.id));
    REPRISE_ASSIGN(const Session present, get(target_, id));
    const auto origin = origin_of(present);
    if (!origin || origin->title == foreign.info.title ||
        present.info.title != stored_title(foreign.info, origin->title)) {
      return {};
    }
    const std::string title = stored_title(foreign.info, foreign.info.title);
    REPRISE_TRY(target_.update(id, {.title = title}));
    return change_origin(id, [&](Origin& noted) { noted.title = foreign.info.title; });
  }

  // Imports the original files and returns true if all messages are stored and the session has no
  // others; else returns false.
  Result<bool> note_complete(const SessionId& id, bool is_seen) {
    REPRISE_ASSIGN(const Session foreign, get(source_, info_.id));
    REPRISE_ASSIGN(const Session present, get(target_, id));
    if (present.info.head != foreign.info.head) {
      return false;
    }
    REPRISE_TRY(import_originals(source_, info_.id, target_, id));
    REPRISE_ASSIGN(const Usage stored, usage_of(present, foreign.info));
    REPRISE_TRY(change_origin(id, [&](Origin& origin) {
      origin.head = present.info.head;
      origin.updated_at = present.info.updated_at;
      origin.title = foreign.info.title;
      origin.usage = store::usage_beyond(foreign.usage, stored);
      if (origin.usage) {
        origin.usage->request_id = request_id_of_session(tool_, info_.id.str());
      }
      if (is_seen) {
        note_seen_in(origin);
      }
      if (id == first_) {
        origin.fork.clear();
      }
    }));
    return true;
  }

  // The usage of the stored messages, including those shared with other sessions, except those that
  // the tool counts elsewhere.
  Result<Usage> usage_of(const Session& present, const SessionInfo& foreign) {
    if (!present.info.forked_from) {
      return present.usage;
    }
    Usage sum;
    store::CountedRequests counted;
    const ReadRange own{.from = foreign.forked_from ? foreign.forked_from->at : Seq{}};
    REPRISE_TRY(target_.read(present.info.id, own, [&](const Message& message) {
      store::count_usage(sum, counted, message);
      return Flow::proceed;
    }));
    return sum;
  }

  template <class Change>
  Result<> change_origin(const SessionId& id, const Change& change) {
    REPRISE_ASSIGN(const Session present, get(target_, id));
    Origin origin = origin_of(present).value_or(Origin{});
    origin.tool = tool_;
    origin.id = info_.id.str();
    origin.place = foreign_.place.empty() ? origin.place : std::string(foreign_.place);
    origin.is_archived = to_archive_.contains(id);
    change(origin);
    Extra extra = present.extra;
    set_origin(extra, origin);
    return extra == present.extra ? Result<>() : target_.update(id, {.extra = std::move(extra)});
  }

  // Creates a fork under this id that shares the messages that the origin has in the store, if the
  // store has forks. Returns whether these are all of its messages.
  Result<bool> share(const SessionId& id) {
    Forking* const forking = target_.capabilities().forking;
    if (!info_.forked_from) {
      return false;
    }
    view_.show_as(id, std::nullopt);
    REPRISE_ASSIGN(std::optional<Session> session, view_.find(id));
    if (!session) {
      return false;
    }
    REPRISE_ASSIGN(SessionId parent, id_in(target_, tool_, info_.forked_from->session.str()));
    Seq shared;
    stored_.push_back(parent);
    for (const SessionId& candidate : stored_) {
      REPRISE_ASSIGN(const std::optional<Session> copy, target_.find(candidate));
      const bool is_trashed = copy && copy->info.state == SessionState::trashed;
      if (!copy || (is_trashed && !is_branch(info_))) {
        continue;
      }
      REPRISE_ASSIGN(const Seq equal_count, count_equal(target_, copy->info, view_, info_.id));
      if (equal_count == session->info.head) {
        return true;  // rewound after it was imported
      }
      if (equal_count > shared && !is_trashed) {
        parent = candidate;
        shared = equal_count;
      }
    }
    REPRISE_TRY(shared.value == 0 || forking == nullptr ? Result<>()
                                                        : forking->fork(parent, shared, *session));
    return false;
  }

  // Notes the new fork, so that it is found if this import is killed and its first message grows
  // meanwhile.
  Result<> begin_fork(const SessionId& parent, Seq at, const SessionId& child) {
    REPRISE_ASSERT(first_);
    REPRISE_TRY(change_origin(*first_, [&child](Origin& origin) { origin.fork = child.str(); }));
    Forking* const forking = target_.capabilities().forking;
    if (at == Seq{} || forking == nullptr) {
      return {};  // without forks, the earlier messages are stored twice
    }
    view_.show_as(child, ForkOrigin{parent, at});
    REPRISE_ASSIGN(std::optional<Session> session, view_.find(child));
    if (!session) {
      return {};
    }
    return forking->fork(parent, at, *session);
  }

  const ForeignSessions& foreign_;
  Source& source_;
  std::string tool_;
  Store& target_;
  const SessionInfo& info_;
  std::stop_token stop_;
  ImportView view_;
  bool is_shared_ = false;          // another session has all of its messages
  bool is_left_ = false;            // the fork with its messages is in the trash
  std::optional<SessionId> first_;  // the first stored copy that is not in the trash
  std::string noted_fork_;          // of the first copy, see Origin
  Seq imported_before_;             // likewise, its `head`
  bool is_shorter_ = false;         // some of those messages are not the tool's any more
  bool has_branches_ = false;       // in the tool
  std::set<SessionId> to_archive_;  // at the end
  std::vector<SessionId> unarchived_;
  std::vector<SessionId> stored_;  // the stored copies of the tool's session: itself, and its forks
};

// Restores a session that Reprise exported.
Result<ImportedSession> copy_own(Source& source, Store& target, const SessionId& id,
                                 const std::stop_token& stop) {
  REPRISE_ASSIGN(CopiedSession copied, copy_session(source, target, id, {.stop = stop}));
  return ImportedSession{.outcome = copied.outcome,
                         .messages = copied.messages,
                         .id = copied.id.value_or(id),
                         .damage = std::move(copied.damage),
                         .detail = std::move(copied.detail),
                         .was_read = true};
}

// Whether another process may have created, continued, archived, restored, trashed or moved the
// session.
bool may_be_concurrent(const Error& error) {
  return error.code == Code::conflict || error.code == Code::invalid_argument ||
         error.code == Code::not_found;
}

// The sessions `listed` are imported on their own.
Result<ImportedSession> import_one(const ForeignSessions& foreign, const SessionIds& listed,
                                   Store& target, const SessionInfo& info,
                                   const std::stop_token& stop) {
  if (!target.capabilities().messages) {
    return fail(Code::unsupported, "the store holds no messages");
  }
  for (int attempt = 1;; ++attempt) {
    auto imported = foreign.tool == kOwnExports
                        ? copy_own(foreign.source, target, info.id, stop)
                        : Import(foreign, target, info, stop).run_with_branches(listed);
    if (imported || attempt == kAttemptsMax || !may_be_concurrent(imported.error())) {
      return imported;
    }
    std::this_thread::sleep_for(kPause * (1 << attempt));
  }
}

// A fork of this title to which nothing was added.
Result<std::optional<SessionId>> find_unused_fork(Store& store, const SessionId& parent,
                                                  const std::string& title) {
  REPRISE_ASSIGN(const Session session, get(store, parent));
  const ForkOrigin origin{parent, session.info.head};
  SessionQuery query{.states = {SessionState::active}, .title_contains = title};
  query.ungrouped = true;
  query.limit = kPageMax;
  REPRISE_ASSIGN(const SessionPage page, store.list(query));
  const auto found = std::ranges::find_if(page.sessions, [&](const SessionInfo& info) {
    return info.forked_from == origin && info.head == origin.at && !info.answering;
  });
  return found == page.sessions.end() ? std::nullopt : std::optional(found->id);
}

}  // namespace

Result<FoundSessions> find_branches(Source& source, const SessionId& id) {
  return find_all_sessions(
      source, {.states = {SessionState::active, SessionState::closed, SessionState::archived},
               .id_prefix = cat(id.str(), ":"),
               .branches = true});
}

Result<ImportedSession> import_session(Source& source, std::string_view tool, Store& target,
                                       const SessionInfo& info, const std::stop_token& stop) {
  return import_one({.source = source, .tool = tool, .sessions = {}}, {}, target, info, stop);
}

void import_sessions(const ForeignSessions& foreign, Store& target, const ImportSink& done,
                     const std::stop_token& stop) {
  struct Running {
    const SessionInfo* info;
    std::future<Result<ImportedSession>> imported;
  };
  SessionIds listed;
  for (const SessionInfo& info : foreign.sessions) {
    listed.insert(info.id.str());
  }
  std::deque<Running> running;
  const std::size_t at_once = foreign.source.capabilities().parallel_reads ? kImportsAtOnce : 1;
  const auto wait_for_first = [&] {
    const auto imported = running.front().imported.get();
    if (!stop.stop_requested()) {
      done(*running.front().info, imported);
    }
    running.pop_front();
  };
  for (const SessionInfo& info : foreign.sessions) {
    const auto shares = [](const SessionInfo& session) { return session.forked_from.has_value(); };
    while (running.size() >= at_once ||
           (!running.empty() && (shares(info) || shares(*running.back().info)))) {
      wait_for_first();
    }
    if (stop.stop_requested()) {
      break;
    }
    // Deferred where no thread can be created.
    running.push_back({&info, std::async(std::launch::async | std::launch::deferred, [&] {
                         return import_one(foreign, listed, target, info, stop);
                       })});
  }
  while (!running.empty()) {
    wait_for_first();
  }
}

Result<> restore_archived(Store& store, const SessionId& id) {
  REPRISE_TRY(store.capabilities().archives->unarchive(id));
  REPRISE_ASSIGN(const Session session, get(store, id));
  std::optional<Origin> origin = origin_of(session);
  if (!origin || !origin->is_archived) {
    return {};
  }
  origin->is_archived = false;
  Extra extra = session.extra;
  set_origin(extra, *origin);
  return store.update(id, {.extra = std::move(extra)});
}

Result<ContinuedSession> continue_imported(Source& source, std::string_view tool, Store& target,
                                           const SessionInfo& info, Clock& clock) {
  REPRISE_ASSIGN(ImportedSession imported, import_session(source, tool, target, info));
  ContinuedSession continued{.id = imported.id, .damage = std::move(imported.damage)};
  REPRISE_ASSIGN(const std::optional<SessionId> unused,
                 find_unused_fork(target, imported.id, info.title));
  if (unused) {
    continued.id = *unused;
  } else {
    REPRISE_ASSIGN(
        continued.id,
        fork_session(target, {.parent = imported.id, .at = std::nullopt, .title = info.title},
                     clock));
  }
  REPRISE_TRY(target.update(continued.id, {.provider = "", .model = "", .config = RawJson()}));
  return continued;
}

}  // namespace reprise
