#pragma once

// The JSON interface for scripts; docs/json.md describes each field.

#include <array>       // IWYU pragma: export
#include <filesystem>  // IWYU pragma: export
#include <variant>     // IWYU pragma: export

#include "base/json_write.h"       // IWYU pragma: export
#include "cli/process/process.h"   // IWYU pragma: export
#include "cli/program/context.h"   // IWYU pragma: export
#include "reprise/conversation.h"  // IWYU pragma: export
#include "reprise/search.h"        // IWYU pragma: export
#include "reprise/store.h"         // IWYU pragma: export

namespace reprise::cli {

// "active", "interrupted", "closed", "archived" or "trashed".
std::string_view state_text(const SessionInfo& info);
// A session's name in messages: "'Title' (e32c41d0)".
std::string session_name(Source& source, const SessionInfo& info);
// The same with 8 digits, for a session of another source.
std::string session_name(const SessionInfo& info);
// unique_short_id(); 8 digits if the store cannot be queried.
std::string brief_id(Source& source, const SessionId& id);
// short_ids() of these sessions.
std::vector<std::string> short_ids_of(const std::vector<SessionInfo>& sessions);

// Appends the fields to an open object.
void append_info(json::ObjectWriter& object, const SessionInfo& info, std::string_view short_id);
// An array with one object per session.
std::string infos_document(const std::vector<SessionInfo>& sessions);

// The usage of the session, including what its origin recorded for no single message.
Usage total_usage(const Session& session);
// The fields of `info` and all other data of the session except its messages. `response_ids` is in
// order.
std::string session_document(Source& source, const Session& session,
                             const std::vector<std::string>& response_ids);
// With --json, prints the session as in `list`, as one object. Commands that change a session end
// with this.
Result<Exit> show_session(Context& context, Store& store, const SessionId& id);
// The same for several, as an array.
Result<Exit> show_sessions(Context& context, Store& store, const std::vector<SessionInfo>& changed);
std::string message_document(const Message& message);
// The answer as a message, with "running": true while it is being generated.
std::string answer_document(const UnfinishedAnswer& answer);
// {"id","seqs":[…]}
std::string appended_document(const SessionId& id, const AppendResult& appended);
// Prints this document, or "ID SEQ…".
void print_appended(Context& context, const SessionId& id, const AppendResult& appended);
std::string todos_document(const std::vector<Todo>& todos);
std::string damage_document(const std::vector<Damage>& damage);

// The message as commands name it: "e32c41d0#12".
std::string hit_selector(const SearchHit& hit);
// {"hits":[…],"next":…}; `sources` are values for --store, "" for the settings' store.
std::string hits_document(const SearchPage& page, std::span<const std::string> sources);

}  // namespace reprise::cli
