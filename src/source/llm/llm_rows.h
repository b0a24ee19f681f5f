#pragma once

// The two generations of llm's tables. One file may have conversations in both.

#include <initializer_list>  // IWYU pragma: export

#include "source/database_copy.h"  // IWYU pragma: export
#include "source/tool_source.h"    // IWYU pragma: export
#include "source/values.h"
#include "store/sqlite/connection.h"  // IWYU pragma: export

namespace reprise::source::llm {

// The tables "conversations" and "responses".
std::vector<SessionInfo> list_conversations(Database& database, ReadReport& report);
// Null if there is no such conversation.
std::shared_ptr<OpenSession> open_conversation(const std::shared_ptr<Database>& database,
                                               const std::string& id);

// Since 0.32: "threads", "turns", "messages" and "parts".
std::vector<SessionInfo> list_threads(Database& database, ReadReport& report);
std::shared_ptr<OpenSession> open_thread(const std::shared_ptr<Database>& database,
                                         const std::string& id);

// Whether a table has rows of this response.
bool has_rows(Database& database, std::string_view table, std::string_view response);
// The usage of a response or a turn, with this request id; nullopt if it has none.
std::optional<Usage> usage_of_row(const sqlite::Statement& row);
// The text of a fragment; "" if it is missing.
std::string fragment(Database& database, std::string_view id);
// An attachment: an image, or its metadata.
Block attachment(Database& database, const std::string& id);

}  // namespace reprise::source::llm
