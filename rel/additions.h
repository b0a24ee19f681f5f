#pragma once

// What the trials do with a store beside the life it leads.

#include "life.h"
#include "reprise/store.h"

namespace reprise::rel {

// One more message to the session that is always there, to see that the store still takes one.
Result<> add_one_more(Store& store);
bool has_one_more(const Snapshot& seen);

// Every session goes for good, where sessions can.
Result<> purge_all(Store& store);

// For several writers: a session whose messages have names, in the order they stand in it.
Result<> create_named(Store& store);
Result<> add_named(Store& store, const std::string& name, std::size_t bytes);
Result<std::vector<std::string>> names_in(Store& store);

// A turn for any session: once, however often it is done.
Result<> add_turn(Store& store, const SessionId& id);

}  // namespace reprise::rel
