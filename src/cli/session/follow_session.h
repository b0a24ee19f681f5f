#pragma once

// Follows a session: prints its messages, and then those that other processes add.

#include <functional>

#include "cli/program/context.h"  // IWYU pragma: export
#include "reprise/source.h"       // IWYU pragma: export

namespace reprise::cli {

struct FollowRequest {
  SessionId session;
  Seq from;  // the first message
  std::stop_token stop;
};

// Adds what cannot be read of the message to the report.
using PrintMessage = std::function<void(Message&& message, ReadReport& report)>;

// Prints until a stop is requested (Exit::success) or standard output is closed (Exit::failed).
// Asks the source at most once a second while nothing happens. After a rewind, what follows it is
// printed. not_found when the session is removed.
Result<Exit> follow_session(Context& context, Source& source, const FollowRequest& request,
                            const PrintMessage& print);

}  // namespace reprise::cli
