#pragma once

#include "reprise/store.h"
#include "store/postgres/database.h"

namespace reprise::postgres {

// As Store::read(). A connection that breaks on the way is replaced, and reading goes on where it
// was.
Result<ReadReport> read_messages(Database& database, const SessionId& id, const ReadRange& range,
                                 const MessageSink& sink);

}  // namespace reprise::postgres
