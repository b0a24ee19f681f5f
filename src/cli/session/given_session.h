#pragma once

// What commands that store messages of another program's loop have in common.

#include "cli/program/context.h"  // IWYU pragma: export
#include "reprise/message.h"      // IWYU pragma: export
#include "reprise/session.h"      // IWYU pragma: export
#include "reprise/source.h"       // IWYU pragma: export

namespace reprise::cli {

// A session of the working folder without a provider; its id is chosen when it is stored.
Session new_given_session(Context& context, std::string_view title);

// Sets the author of a text of the role user, as `ask` does.
void set_given_author(Context& context, Source& store, Message& message);

// The id of a retried operation, from --op or a request. invalid_argument.
Result<std::optional<OperationId>> parse_operation(const std::optional<std::string>& given);

}  // namespace reprise::cli
