#pragma once

// Sessions of other tools into the own store.
//
//  (1) A session's id there follows from the tool and the tool's id, so that importing again adds
//      only what is new.
//  (2) What has grown is continued. What was rewound, or has gone on here, is not overwritten: what
//      the tool has from there on becomes a fork, whose id follows from where it begins.
//  (3) Where it came from stays with it: the extra field "origin" of the session.

#include <stop_token>

#include "engine/copy.h"
#include "reprise/store.h"

namespace reprise {

// A UUID (version 8) made of the names.
Result<SessionId> imported_id(std::string_view tool, std::string_view id);
// Whether it looks like one of those, which others hardly do.
bool is_imported_id(const SessionId& id);

// Where a session came from.
struct Origin {
  std::string tool;   // "claude"
  std::string id;     // the tool's
  Time seen_at = {};  // its last activity when it was imported last
};
// nullopt for a session that was not imported.
std::optional<Origin> origin_of(const Session& session);

struct ImportedSession {
  CopyFate fate = CopyFate::unchanged;
  std::int64_t messages = 0;        // that are new
  SessionId id;                     // in the store
  std::vector<std::string> damage;  // what could not be read, one line each
};

// `info` is as the tool's list has it: a session without activity since it was imported is not read
// again. An Error: it stopped in between; importing again goes on.
Result<ImportedSession> import_session(Source& source, std::string_view tool, Store& target,
                                       const SessionInfo& info, const std::stop_token& stop = {});

}  // namespace reprise
