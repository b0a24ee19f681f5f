#pragma once

// Reading a session's messages: in pages, so that memory is bounded and a slow sink holds neither a
// statement nor the log. What is delivered is one state of the session all the same: when a suffix
// is replaced between two pages, reading goes on in the kept session that has the old one.

#include "reprise/store.h"
#include "store/sqlite/database.h"

namespace reprise::sqlite {

Result<ReadReport> read_messages(Database& database, const SessionId& id, const ReadRange& range,
                                 const MessageSink& sink);

// As ReplacedReader::read_replaced().
Result<ReadReport> read_replaced(Database& database, const SessionId& id, const MessageSink& sink);

}  // namespace reprise::sqlite
