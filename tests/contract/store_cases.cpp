// The stores that the contract suite runs against.

#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "contract/named_ids.h"
#include "contract/store_contract.h"
#include "reprise/error.h"
#include "reprise/open_store.h"
#include "reprise/store.h"
#include "support/postgres_server.h"

namespace reprise::test {

std::vector<StoreCase> store_cases() {
  using std::filesystem::path;
  using Opened = Result<std::unique_ptr<Store>>;
  return {
      {.name = "memory",
       .open = [](const path& /*folder*/, const StoreOptions& options) -> Opened {
         return open_memory_store(*options.clock);
       },
       .is_persistent = false},
      {.name = "sessions",
       .open = [](const path& folder, const StoreOptions& options) -> Opened {
         return open_sessions_store(folder / "sessions", options);
       }},
      {.name = "sqlite",
       .open = [](const path& folder, const StoreOptions& options) -> Opened {
         return open_sqlite_store(folder / "reprise.db", options);
       }},
      {.name = "postgres",
       .open = [](const path& folder, const StoreOptions& options) -> Opened {
         return open_postgres_store(postgres_url(folder.filename().native()), options);
       }},
      {.name = "chain",
       .open = [](const path& folder, const StoreOptions& options) -> Opened {
         return open_chain_store(folder / "conversations.json", options);
       }},
      {.name = "context",
       .open = [](const path& folder, const StoreOptions& options) -> Opened {
         return open_context_store(folder / "openai.json", options);
       }},
      {.name = "chatdir",
       .open = [](const path& folder, const StoreOptions& options) -> Opened {
         REPRISE_ASSIGN(auto store,
                        open_chatdir_store(folder / "d", options, {.messages_max = 1'000'000}));
         return with_named_ids(std::move(store));
       }},
  };
}

}  // namespace reprise::test
