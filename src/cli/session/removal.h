#pragma once

// Moves sessions to the trash or purges them, for `delete`, `clear` and `cleanup`.

#include <span>

#include "cli/process/process.h"  // IWYU pragma: export
#include "cli/program/context.h"  // IWYU pragma: export
#include "reprise/sessions.h"     // IWYU pragma: export

namespace reprise::cli {

enum class Use : std::uint8_t;  // store_opener.h

struct RemovalRequest {
  std::string description;  // "'Title'", "12 sessions of this folder"
  Removal removal = Removal::trash;
  std::string empty_message = {};   // printed if there are no sessions
  std::size_t unconfirmed_max = 0;  // up to this many without a question
};

// Warns about each place where messages of purged sessions may remain.
std::vector<Remnant> warn_of_remnants(Context& context, const RemovedSessions& result);

// Like recover_answer(), with a note if that takes a while.
Result<bool> check_answering(Context& context, Store& store, const SessionInfo& info);

// Applies `change` to these sessions after finding all of them and checking that none is being
// answered. `verb` is for errors: "close". With --json, prints one session as an object, several as
// an array.
struct Change {
  std::string_view verb;
  std::function<Result<>(const SessionInfo&)> apply;
  Use use;
};
Result<Exit> change_sessions(Context& context, Store& store, const std::vector<std::string>& sels,
                             const Change& change);

// Moves to the trash without asking. Stores the partial answer of a dead process first; busy if an
// answer is running.
Result<> move_to_trash(Context& context, Store& store, std::span<const SessionInfo> sessions);

// Asks first. Skips and reports sessions with a running answer and unreadable ones; then the exit
// code is Exit::failed. Reports the names of removed sessions, or with --json prints their ids.
Result<Exit> ask_and_remove(Context& context, Store& store, const FoundSessions& found,
                            const RemovalRequest& request);

}  // namespace reprise::cli
