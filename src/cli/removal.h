#pragma once

// Taking sessions away: to the trash, or with --purge for good. `delete`, `clear` and `cleanup`
// share it.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/program/context.h"
#include "cli/program/exit.h"
#include "reprise/error.h"
#include "reprise/session.h"
#include "reprise/store.h"

namespace reprise::cli {

enum class Removal : std::uint8_t { trash, purge };

struct RemovalRequest {
  std::string what;  // "'Title'", "12 sessions of this folder"
  Removal how = Removal::trash;
  std::size_t unasked_max = 0;  // so many go without a question
};

// Every session that a query finds, and what a list cannot read: who works on all sessions says
// which ones were left out.
struct FoundSessions {
  std::vector<SessionInfo> sessions;
  std::vector<Damage> damage;  // each part once
};
Result<FoundSessions> find_all(Store& store, SessionQuery query);

// A warning for each damaged part.
void warn_of_damage(Context& context, const std::vector<Damage>& damage);

// Whether it is answering now: nothing is done to it then. An answer whose process is silent is
// watched until it is known whether that lives, and settled if not.
Result<bool> is_answering(Context& context, Store& store, const SessionInfo& info);

// Asks first. A session whose answer is running is left alone and named; so is what could not be
// read. Either makes the exit Exit::failed. Prints how many went, or the ids with --json.
Result<Exit> remove_sessions(Context& context, Store& store, const FoundSessions& found,
                             const RemovalRequest& request);

// The sessions, of all folders, that were closed before then. One closed at that very time stays,
// and so does one without a time, or with one that is yet to come.
Result<FoundSessions> closed_before(Store& store, Time before);

}  // namespace reprise::cli
