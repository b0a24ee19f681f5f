#pragma once

// Another session with the same beginning.

#include <optional>
#include <string>

#include "cli/program/context.h"
#include "reprise/error.h"
#include "reprise/store.h"
#include "reprise/types.h"

namespace reprise::cli {

struct ForkRequest {
  SessionId parent;
  std::optional<Seq> at;             // the messages before it are shared; all when absent
  std::optional<std::string> title;  // "TITLE (fork)" when absent
};

// The id of the new session.
Result<SessionId> fork_session(Context& context, Store& store, const ForkRequest& request);

}  // namespace reprise::cli
