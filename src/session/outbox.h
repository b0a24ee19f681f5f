#pragma once

// What could not be saved on a server waits in a folder of this machine until it is brought in
// (docs/formats/outbox.md). All functions take that folder; one that is not there is empty.

#include <map>

#include "reprise/capabilities.h"
#include "reprise/outbox.h"

namespace reprise {

// Whether its URL is that of a server, which may be away.
bool is_on_a_server(std::string_view store_url);

// For a conversation in this store; null for one that is no server's.
std::unique_ptr<Outbox> make_outbox(const std::filesystem::path& folder,
                                    std::string_view store_url);

// How many conversations wait for this store, without those whose writer is still at it.
Result<std::size_t> count_waiting(const std::filesystem::path& folder, std::string_view store_url);

// Files that hold steps of these sessions, or cannot be read.
std::vector<Remnant> find_waiting(const std::filesystem::path& folder,
                                  std::span<const SessionId> sessions);

// What this machine has of the sessions of a store that is away, in memory.
struct WaitingSessions {
  std::unique_ptr<Store> store;
  std::map<SessionId, Seq> begin;  // the place in its session of each one's first message
};
// What cannot be read is left out after `on_warning`, what its writer is still at without a word.
Result<WaitingSessions> read_waiting(const std::filesystem::path& folder,
                                     std::string_view store_url,
                                     const std::function<void(std::string_view)>& on_warning);

// What a person means by `named`: a file; a folder; or with "" the usual one, and in it what waits
// for this store. not_found when that is nothing.
Result<std::vector<std::filesystem::path>> find_outbox_files(const std::filesystem::path& usual,
                                                             std::string_view named,
                                                             std::string_view store_url);

}  // namespace reprise
