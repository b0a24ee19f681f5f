#pragma once

// The sessions and messages of the trials, which are always the same, and operations on a store
// besides its life.

#include "life.h"
#include "reprise/message.h"  // IWYU pragma: export
#include "reprise/session.h"
#include "reprise/store.h"

namespace reprise::rel {

SessionId session(int number);
OperationId operation(std::string_view name);
Time at(int second);
Session empty_session(int number);
// A message; without `words`, in the form that a store without text holds. `second` determines its
// time and position.
Message message_of(bool words, std::string_view role, std::string text, int second);

// Appends a message to the session that always exists, to check that the store accepts one.
Result<> append_test_message(Store& store);
bool has_test_message(const Snapshot& snapshot);

// Purges every session, if the store can.
Result<> purge_all(Store& store);

// For several writers: a session whose messages have names; names_in() returns them in order.
Result<> create_named(Store& store);
Result<> add_named(Store& store, const std::string& name, std::size_t bytes);
Result<std::vector<std::string>> names_in(Store& store);

// Adds a turn to any session; idempotent.
Result<> add_turn(Store& store, const SessionId& id);

}  // namespace reprise::rel
