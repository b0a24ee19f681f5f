#pragma once

// Operations of the trials on a store besides its life.

#include "life.h"
#include "reprise/store.h"

namespace reprise::rel {

// Appends a message to the session that always exists, to check that the store accepts one.
Result<> add_one_more(Store& store);
bool has_one_more(const Snapshot& seen);

// Purges every session, if the store can.
Result<> purge_all(Store& store);

// For several writers: a session whose messages have names; names_in() returns them in order.
Result<> create_named(Store& store);
Result<> add_named(Store& store, const std::string& name, std::size_t bytes);
Result<std::vector<std::string>> names_in(Store& store);

// Adds a turn to any session; idempotent.
Result<> add_turn(Store& store, const SessionId& id);

}  // namespace reprise::rel
