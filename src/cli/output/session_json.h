#pragma once

// The JSON that scripts rely on; docs/json.md says what each field means.

#include "base/json_write.h"       // IWYU pragma: export
#include "cli/program/context.h"   // IWYU pragma: export
#include "cli/program/exit.h"      // IWYU pragma: export
#include "reprise/conversation.h"  // IWYU pragma: export
#include "reprise/store.h"         // IWYU pragma: export

namespace reprise::cli {

// "active", "interrupted", "closed", "archived" or "trashed".
std::string_view state_text(const SessionInfo& info);
// How messages name a session: "'Title' (e32c41d0)".
std::string session_name(Source& source, const SessionInfo& info);
// The same with 8 digits, of a session that another source has.
std::string session_name(const SessionInfo& info);
// As unique_short_id(); 8 digits where the store cannot be asked.
std::string brief_id(Source& source, const SessionId& id);
// As short_ids().
std::vector<std::string> short_ids_of(const std::vector<SessionInfo>& sessions);

// Appends the fields to an object that is being written.
void append_info(json::ObjectWriter& object, const SessionInfo& info, std::string_view short_id);
// One of these for each.
std::string infos_document(const std::vector<SessionInfo>& sessions);

// The fields of `info`, and all else a session has but its messages. `response_ids` in order.
std::string session_document(Source& source, const Session& session,
                             const std::vector<std::string>& response_ids);
// With --json prints the session as `list` does, as one object: what a command that changed a
// session ends with.
Result<Exit> show_session(Context& context, Store& store, const SessionId& id);
// The same of several, as an array.
Result<Exit> show_sessions(Context& context, Store& store, const std::vector<SessionInfo>& changed);
std::string message_document(const Message& message);
// As a message; with "running": true while more of it comes.
std::string answer_document(const UnfinishedAnswer& answer);
std::string todos_document(const std::vector<Todo>& todos);
std::string damage_document(const std::vector<Damage>& damage);

}  // namespace reprise::cli
