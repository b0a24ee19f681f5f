#pragma once

// Taking sessions away: to the trash, or with --purge for good. `delete`, `clear` and `cleanup`
// share it.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/exit.h"
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

// Asks first. A session whose answer is running is left alone and named. Prints how many went, or
// the ids with --json.
Result<Exit> remove_sessions(Context& context, Store& store,
                             const std::vector<SessionInfo>& sessions,
                             const RemovalRequest& request);

// The sessions, of all folders, that were closed before then. One closed at that very time stays,
// and so does one without a time, or with one that is yet to come.
Result<std::vector<SessionInfo>> closed_before(Store& store, Time before);

// Every session the query finds, page by page.
Result<std::vector<SessionInfo>> find_all(Store& store, SessionQuery query);

}  // namespace reprise::cli
