#pragma once

// The two generations of llm's tables. Both may hold conversations, in one file.

#include "source/database_place.h"
#include "source/tool_source.h"
#include "source/values.h"

namespace reprise::source::llm {

// Of llm: "conversations" and "responses".
std::vector<SessionInfo> list_conversations(Database& database, ReadReport& report);
// Null when there is no such conversation.
std::shared_ptr<OpenSession> open_conversation(const std::shared_ptr<Database>& database,
                                               const std::string& id);

// Since 0.32: "threads", "turns", "messages" and "parts".
std::vector<SessionInfo> list_threads(Database& database, ReadReport& report);
std::shared_ptr<OpenSession> open_thread(const std::shared_ptr<Database>& database,
                                         const std::string& id);

// What a response or a turn used, under this request; nullopt for nothing.
std::optional<Usage> usage_of_row(const sqlite::Statement& row);
// The text of a fragment; "" when it is not there.
std::string fragment(Database& database, std::string_view id);
// An attachment: an image, or what it is.
Block attachment(Database& database, const std::string& id);

}  // namespace reprise::source::llm
