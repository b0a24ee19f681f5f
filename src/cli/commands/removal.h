#pragma once

// Taking sessions away: to the trash, or with --purge for good. `delete`, `clear` and `cleanup`
// share it.

#include <span>

#include "cli/program/context.h"  // IWYU pragma: export
#include "cli/program/exit.h"     // IWYU pragma: export
#include "reprise/sessions.h"     // IWYU pragma: export

namespace reprise::cli {

struct RemovalRequest {
  std::string what;  // "'Title'", "12 sessions of this folder"
  Removal how = Removal::trash;
  std::size_t unconfirmed_max = 0;  // so many go without a question
};

// A warning for each damaged part.
void warn_of_damage(Context& context, const std::vector<Damage>& damage);

// Of the words of purged sessions that may still stand somewhere: a warning for each place.
std::vector<Remnant> warn_of_remnants(Context& context, const RemovedSessions& done);

// is_answering(), with a note when that takes a while.
Result<bool> check_answering(Context& context, Store& store, const SessionInfo& info);

// Does `change` to each of these sessions, once all are found and none is answering. `verb` is for
// the error: "close". With --json prints one session as an object, several as an array.
Result<Exit> change_sessions(Context& context, Store& store, const std::vector<std::string>& sels,
                             std::string_view verb,
                             const std::function<Result<>(const SessionInfo&)>& change);

// To the trash without a question. What had come of an answer whose process is gone is stored
// first; busy when one is answering.
Result<> move_to_trash(Context& context, Store& store, std::span<const SessionInfo> sessions);

// Asks first. A session whose answer is running is left alone and named; so is what could not be
// read. Either makes the exit Exit::failed. Names those that went, or prints their ids with --json.
Result<Exit> ask_and_remove(Context& context, Store& store, const FoundSessions& found,
                            const RemovalRequest& request);

}  // namespace reprise::cli
