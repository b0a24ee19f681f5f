#pragma once

// Imports sessions of other tools into the store.
//
//  (1) The id of an imported session is derived from the tool and its id there, so that a repeated
//      import adds only new messages.
//  (2) A session that has grown is continued. If it was rewound, or continued in the store, it is
//      not overwritten: the tool's differing messages become a fork, whose id is derived from its
//      place and the content of its first message. Messages are compared by their content.
//  (3) The session's extra field "origin" records where it came from.
//  (4) It is stored as active, since it can be continued. Abandoned branches and sessions of
//      sub-agents are imported as archived: they can be found and read, but are not listed.
//  (5) A fork or branch of a stored session shares its messages.
//  (6) What a tool removed or shortened stays as it was imported, and is noted as gone there.
//  (7) A session is noted as imported only when it was read, compared and stored as a whole, with
//      its branches; until then, each import tries again. What is in the trash stays as it is.

#include <functional>
#include <map>
#include <span>
#include <stop_token>

#include "engine/copied_id.h"  // IWYU pragma: export
#include "engine/copy.h"
#include "engine/origin.h"  // IWYU pragma: export
#include "reprise/environment.h"
#include "reprise/sessions.h"
#include "reprise/store.h"

namespace reprise {

// A UUID derived from the names: of version 4 for stores with such ids, whose original program
// accepts no others, else of version 8.
Result<SessionId> imported_id(std::string_view tool, std::string_view id,
                              UuidVersion new_ids = UuidVersion::v7);

// The parts of this session's files that its source lists as separate sessions: abandoned branches
// and sub-agents, archived ones included.
Result<FoundSessions> find_branches(Source& source, const SessionId& id);

struct ImportedSession {
  CopyOutcome outcome = CopyOutcome::unchanged;
  std::int64_t messages = 0;        // new ones, including those of branches
  SessionId id;                     // in the store
  std::vector<std::string> damage;  // unreadable parts, one line each
  std::string detail = {};          // of a conflict: the reason
  bool was_read = false;            // false: unchanged since the last import
  bool is_whole = true;             // false: not all branches could be read; the next import tries
};

// Imports the session with its branches. `info` is from the tool's list (with
// SessionQuery::children to include sub-agents): a session without activity since the last import
// is not read again. What is imported is on disk when this returns; after an error, calling it
// again continues. unsupported for a store without messages.
Result<ImportedSession> import_session(Source& source, std::string_view tool, Store& target,
                                       const SessionInfo& info, const std::stop_token& stop = {});

// Compares sessions of a tool with their imported copies in a store. Lists the tool's sessions
// once, when first needed. Not thread-safe.
class ImportedMessages {
 public:
  // The store and the source must outlive it.
  ImportedMessages(Source& store, std::string_view tool, Source& source)
      : store_(store), tool_(tool), source_(source) {}

  // The number of first messages of the tool's session that its copy, or a fork of that, has, too;
  // 0 if the copy is in the store's trash.
  Result<Seq> count(const SessionId& id);

 private:
  Result<> list(SessionQuery query);
  Result<const SessionInfo*> find_listed(const SessionId& id);
  Result<std::optional<Message>> message_at(const SessionId& id, Seq at);

  Source& store_;
  std::string tool_;
  Source& source_;
  bool is_listed_ = false;
  std::map<std::string, SessionInfo> listed_;  // by id
};

// Called for each session in order, on the importing thread, until stopped.
using ImportSink = std::function<void(const SessionInfo&, const Result<ImportedSession>&)>;
struct ForeignSessions {
  Source& source;
  std::string_view tool;
  std::span<const SessionInfo> sessions;
  std::string_view place = {};  // Origin::place
};
// Calls import_session() for each, a fork after all sessions listed before it; sub-agents that are
// among them are not imported with their sessions. Three in parallel if
// the source has parallel_reads: others are read while one is written.
void import_sessions(const ForeignSessions& foreign, Store& target, const ImportSink& done,
                     const std::stop_token& stop = {});

// Notes which of the sessions that were imported from this place are not in its list any more, or
// are in it again; `foreign.sessions` must be all of them, sub-agents included. Returns the number
// of those that were in it before. The stored copies stay as they are.
Result<std::int64_t> note_gone(const ForeignSessions& foreign, Store& target);

// Restores an archived session to active or closed. Later imports do not archive it again.
Result<> restore_archived(Store& store, const SessionId& id);

struct ContinuedSession {
  SessionId id;  // of the fork
  std::vector<std::string> damage;
};
// Imports the session, and creates a fork of it to continue: reuses an earlier fork without own
// messages. Its provider and model are not set, as the tool's may require a key that only the tool
// has.
Result<ContinuedSession> continue_imported(Source& source, std::string_view tool, Store& target,
                                           const SessionInfo& info, Clock& clock = system_clock());

// Stores the files of `foreign` as artefacts of `id` (engine/origin.h), unless they are stored
// already. Does nothing if the source has no files or the store has no artefacts.
Result<> import_originals(Source& source, const SessionId& foreign, Store& target,
                          const SessionId& id);

}  // namespace reprise
