// The stores that the contract suite runs against.

#include "base/text.h"
#include "contract/named_ids.h"
#include "contract/store_contract.h"
#include "reprise/open_store.h"
#include "support/postgres_server.h"

namespace reprise::test {

namespace {

using Opened = Result<std::unique_ptr<Store>>;

Opened open_case(const StoreKind& kind, const std::filesystem::path& folder,
                 const StoreOptions& options) {
  if (kind.location == StoreKind::Location::nowhere) {
    return open_memory_store(options);
  }
  if (kind.location == StoreKind::Location::server) {
    return open_store(postgres_url(folder.filename().native()), options);
  }
  if (kind.name != "chatdir") {
    return open_store(url_in_folder(kind, folder), options);
  }
  REPRISE_ASSIGN(auto store,
                 open_store(cat(url_in_folder(kind, folder), "?messages=1000000"), options));
  return with_named_ids(std::move(store));
}

}  // namespace

std::vector<StoreCase> store_cases() {
  std::vector<StoreCase> out;
  for (const StoreKind& kind : store_kinds()) {
    out.push_back(
        {.name = std::string(kind.name),
         .open = [&kind](const auto& folder,
                         const auto& options) { return open_case(kind, folder, options); },
         .is_persistent = kind.location != StoreKind::Location::nowhere});
  }
  return out;
}

}  // namespace reprise::test
