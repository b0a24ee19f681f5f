#pragma once

// The first half of a start: the store, and the session in it that a run goes
// on with.

#include "cli/program/context.h"        // IWYU pragma: export
#include "cli/program/start_session.h"  // IWYU pragma: export
#include "cli/settings/settings.h"      // IWYU pragma: export

namespace reprise::cli {

void warn_unsaved(Context& context, const Error& away);

// The store is on a server, and this says that it cannot be reached. It was waited for.
bool is_server_away(Context& context, const Settings& settings, const Error& error);

// Waits as a running conversation does, for a standby that takes over. The
// error when that is in vain. nullopt: it is there, or fails in another way, or
// the store is no server's.
std::optional<Error> wait_for_server(Context& context, const Settings& settings,
                                     const std::stop_token& stop);

struct FoundSession {
  Store* store = nullptr;          // that has it
  std::optional<Session> session;  // nullopt: a new one is to be begun
  bool cut = false;
  std::vector<Message> earlier = {};  // what this machine has of it while the server is away
};

// `away`: why the store's server cannot be had. A session that is named by its id is then gone on
// with; a name that this machine does not know is an error, never another session.
// `away` is set when the server goes away meanwhile. `has_tools`: they would work in the session's
// folder.
Result<FoundSession> find_session(Context& context, const Settings& settings,
                                  const StartRequest& request, std::optional<Error>& away,
                                  bool has_tools);

// Going on with a session of another tool.

// For a SEL like "claude:SEL" (or "claude:", the newest one of this folder): the session comes into
// the store, a fork of it is begun, and the fork's id is returned. Any other SEL is returned as it
// is.
Result<std::string> adopt_session(Context& context, std::string sel);

}  // namespace reprise::cli
