#pragma once

// What an administrator wants to know about a store on a server, besides what the store itself
// tells. The functions only read. unsupported for a store that is not on a server.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reprise/open_store.h"

namespace reprise {

// A transaction that others wait for, or that has used tables of the store for ten seconds: a
// migration would wait for it.
struct StoreBlocker {
  std::int64_t pid = 0;  // of the server's process
  std::string program;
  std::string role;
  std::string table;
  std::int64_t seconds = 0;  // since its start; 0 if the server hides it from this role
  std::int64_t waiting = 0;  // processes that wait for it
};

// The oldest first. Works whatever they hold.
Result<std::vector<StoreBlocker>> find_blockers(std::string_view url,
                                                const StoreOptions& options = {});

struct UnindexedMessages {
  std::string tenant;
  // Those that a search would have to index first, about; nullopt if the server does not index
  // words for this role.
  std::optional<std::int64_t> messages;
};
// Of these tenants, or of the one in the URL if there are none.
Result<std::vector<UnindexedMessages>> count_unindexed(std::string_view url,
                                                       const std::vector<std::string>& tenants,
                                                       const StoreOptions& options = {});

}  // namespace reprise
