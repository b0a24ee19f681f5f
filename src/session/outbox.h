#pragma once

// Messages that could not be saved on a server are stored in a folder of this machine until they
// are delivered (docs/formats/outbox.md). All functions take that folder; it may be missing.

#include <map>

#include "reprise/capabilities.h"
#include "reprise/outbox.h"

namespace reprise {

// Whether the store is on a server, which may be unreachable.
bool is_on_a_server(std::string_view store_url);

// An outbox for a conversation in this store; null if it is not on a server.
std::unique_ptr<Outbox> make_outbox(const std::filesystem::path& folder,
                                    std::string_view store_url);

// The number of undelivered conversations for this store, without those still being written.
Result<std::size_t> count_outbox_sessions(const std::filesystem::path& folder,
                                          std::string_view store_url);

// Files with messages of these sessions, and unreadable files.
std::vector<Remnant> find_outbox_remnants(const std::filesystem::path& folder,
                                          std::span<const SessionId> sessions);

// The locally saved messages of an unreachable store, as a store in memory.
struct OutboxSessions {
  std::unique_ptr<Store> store;
  std::map<SessionId, Seq> begin;  // the seq of each session's first message here
};
// Unreadable files are skipped after `on_warning`, files still being written silently.
Result<OutboxSessions> read_outboxes(const std::filesystem::path& folder,
                                     std::string_view store_url,
                                     const std::function<void(std::string_view)>& on_warning);

// The outbox files that `named` refers to: a file; a folder; or, if "", those for this store in the
// default folder. not_found if there are none.
Result<std::vector<std::filesystem::path>> find_outbox_files(
    const std::filesystem::path& default_folder, std::string_view named,
    std::string_view store_url);

}  // namespace reprise
