#pragma once

// What the sessions and messages of the trials are made of: always the same.

#include "reprise/session.h"

namespace reprise::rel {

SessionId session(int number);
OperationId operation(std::string_view name);
Time at(int second);
Session empty_session(int number);
// For a store without words: what it keeps of an answer. Second and place are told apart by
// `second`.
Message message_of(bool words, std::string_view role, std::string text, int second);

}  // namespace reprise::rel
