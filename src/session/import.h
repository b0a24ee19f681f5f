#pragma once

// Sessions of other tools into the own store.
//
//  (1) A session's id there follows from the tool and the tool's id, so that importing again adds
//      only what is new.
//  (2) What has grown is continued. What was rewound, or has gone on here, is not overwritten: what
//      the tool has from there on becomes a fork, whose id follows from where it begins.
//  (3) Where it came from stays with it: the extra field "origin" of the session.
//  (4) It comes closed, as nobody is answering in it. Branches that were left and the sessions of
//      sub-agents come, too, and go into the archive: they are found and read, and not in the
//      lists.
//  (5) What a fork or branch has of a session that is in the store is shared with it.

#include <functional>
#include <span>
#include <stop_token>

#include "engine/copy.h"
#include "engine/origin.h"  // IWYU pragma: export
#include "reprise/environment.h"
#include "reprise/store.h"

namespace reprise {

// A UUID (version 8) made of the names.
Result<SessionId> imported_id(std::string_view tool, std::string_view id);
// Whether it looks like one of those, which others hardly do.
bool is_imported_id(const SessionId& id);

struct ImportedSession {
  CopyOutcome outcome = CopyOutcome::unchanged;
  std::int64_t messages = 0;        // that are new, with those of its branches
  SessionId id;                     // in the store
  std::vector<std::string> damage;  // what could not be read, one line each
  bool was_read = false;            // else nothing has happened there since
};

// With its branches. `info` is as the tool's list has it (with SessionQuery::children, so that the
// sub-agents come as well): a session without activity since it was imported is not read again. An
// Error: it stopped in between; importing again goes on.
Result<ImportedSession> import_session(Source& source, std::string_view tool, Store& target,
                                       const SessionInfo& info, const std::stop_token& stop = {});

// Told of each session in their order, on the thread that imports them, until they are stopped.
using ImportSink = std::function<void(const SessionInfo&, const Result<ImportedSession>&)>;
struct ForeignSessions {
  Source& source;
  std::string_view tool;
  std::span<const SessionInfo> sessions;
};
// Each as import_session(), a fork after all that stand before it. Three at once where the source
// has parallel_reads: others are read while one is written.
void import_sessions(const ForeignSessions& all, Store& target, const ImportSink& done,
                     const std::stop_token& stop = {});

struct ContinuedSession {
  SessionId id;  // of the fork
  std::vector<std::string> damage;
};
// Imports the session, and a fork of it to go on with: one that was begun before and has nothing of
// its own, or a new one. No provider or model is set in it, as the tool's may need a key that only
// the tool has.
Result<ContinuedSession> continue_imported(Source& source, std::string_view tool, Store& target,
                                           const SessionInfo& info, Clock& clock = system_clock());

}  // namespace reprise
