#pragma once

#include "reprise/store.h"
#include "store/postgres/database.h"

namespace reprise::postgres {

// As Store::read(). A connection that breaks on the way is replaced, and reading goes on where it
// was.
Result<ReadReport> read_messages(Database& database, const SessionId& id, const ReadRange& range,
                                 const MessageSink& sink);

// In one round trip; as LastMessageReader::last_messages().
Result<std::vector<std::optional<Message>>> read_last_messages(Database& database,
                                                               std::span<const SessionId> ids);

// As ReplacedReader::read_replaced().
Result<ReadReport> read_replaced(Database& database, const SessionId& id, const MessageSink& sink);

}  // namespace reprise::postgres
