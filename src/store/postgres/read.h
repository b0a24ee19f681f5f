#pragma once

// Lists sessions, and reads and finds messages.

#include <span>

#include "reprise/capabilities.h"
#include "reprise/source.h"

namespace reprise::postgres {

class Database;

// Like Store::read(). If the connection breaks, reading continues on another one at the same
// message.
Result<ReadReport> read_messages(Database& database, const SessionId& id, const ReadRange& range,
                                 const MessageSink& sink);

// Like LastMessageReader::last_messages(), in one round trip.
Result<std::vector<std::optional<Message>>> read_last_messages(Database& database,
                                                               std::span<const SessionId> ids);

// Like MessageFinder::find_messages(), in a few round trips.
Result<std::vector<std::optional<MessageFinder::Found>>> find_messages(
    Database& database, std::span<const MessageFinder::MessageRef> places);

// Like ShortSessionReader::short_sessions(), in a round trip for 64 sessions.
Result<std::vector<std::optional<std::vector<Message>>>> read_short_sessions(
    Database& database, std::span<const SessionId> ids);

// Like ReplacedReader::read_replaced().
Result<ReadReport> read_replaced(Database& database, const SessionId& id, const MessageSink& sink);

Result<SessionPage> list_sessions(Database& database, const SessionQuery& query);

}  // namespace reprise::postgres
