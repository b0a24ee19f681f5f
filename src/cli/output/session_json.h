#pragma once

// The JSON that scripts rely on; docs/json.md says what each field means.

#include "base/json_write.h"
#include "cli/program/context.h"
#include "cli/program/exit.h"
#include "reprise/store.h"

namespace reprise::cli {

// "active", "interrupted", "closed", "archived" or "trashed".
std::string_view state_text(const SessionInfo& info);
// The short form of a UUID; any other id as it is.
std::string short_id_text(const SessionId& id);

// Appends the fields to an object that is being written.
void append_info(json::ObjectWriter& object, const SessionInfo& info);

// The fields of `info`, and all else a session has but its messages. `response_ids` in order.
std::string session_document(const Session& session, const std::vector<std::string>& response_ids);
// With --json prints the session as `list` does, as one object: what a command that changed a
// session ends with.
Result<Exit> show_session(Context& context, Store& store, const SessionId& id);
std::string message_document(const Message& message);
std::string todos_document(const std::vector<Todo>& todos);
std::string damage_document(const std::vector<Damage>& damage);

}  // namespace reprise::cli
