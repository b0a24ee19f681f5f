#pragma once

// Asks a person which session to resume, by number.

#include <stop_token>

#include "cli/program/context.h"
#include "cli/repl/line_source.h"

namespace reprise::cli {

// nullopt when it was cancelled, or when there is nothing to choose from; that has been said.
// cancelled when it was stopped, invalid_argument after too many wrong answers.
// `all`: of all folders, not only this one.
Result<std::optional<SessionId>> choose_session(Context& context, LineSource& source, bool all,
                                                const std::stop_token& stop);

}  // namespace reprise::cli
