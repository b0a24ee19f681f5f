#pragma once

// The first half of a start: opens the store and finds the session to continue.

#include "choice/settings.h"            // IWYU pragma: export
#include "cli/program/context.h"        // IWYU pragma: export
#include "cli/session/start_session.h"  // IWYU pragma: export

namespace reprise::cli {

void warn_unsaved(Context& context, const Error& unreachable);

// Whether the error means that the store's server is unreachable, after waiting for it.
bool is_server_unreachable(Context& context, const Settings& settings, const Error& error);

// Waits for the server as a conversation does, in case a standby takes over. Returns the error if
// it stays unreachable; nullopt if it is reachable, fails in another way, or the store is not on a
// server.
std::optional<Error> wait_for_server(Context& context, const Settings& settings,
                                     const std::stop_token& stop);

struct FoundSession {
  Store* store = nullptr;          // the session's store
  std::optional<Session> session;  // nullopt: start a new one
  bool recovered = false;
  // Its folder, which is gone; `session` has the current one instead. "" if it keeps its own.
  std::string gone_folder = {};
  std::vector<Message> earlier = {};  // the part on this machine while the server is unreachable
};

// `unreachable` is the error of a store whose server cannot be reached, and is set if that happens
// here. In that case a session named by its id is continued; any other unknown name is an error.
// `has_tools`: tools would run in the session's folder.
Result<FoundSession> find_session(Context& context, const Settings& settings,
                                  const StartRequest& request, std::optional<Error>& unreachable,
                                  bool has_tools);

// Continues a session of another tool.

// For a SEL like "claude:SEL" (or "claude:", the newest one of this folder): the session comes into
// the store, a fork of it is begun, and the fork's id is returned. Any other SEL is returned as it
// is.
Result<std::string> adopt_session(Context& context, std::string sel);

}  // namespace reprise::cli
