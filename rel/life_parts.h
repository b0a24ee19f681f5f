#pragma once

// The sessions and messages of the trials, which are always the same.

#include "reprise/message.h"  // IWYU pragma: export
#include "reprise/session.h"

namespace reprise::rel {

SessionId session(int number);
OperationId operation(std::string_view name);
Time at(int second);
Session empty_session(int number);
// A message; without `words`, in the form that a store without text holds. `second` determines its
// time and position.
Message message_of(bool words, std::string_view role, std::string text, int second);

}  // namespace reprise::rel
