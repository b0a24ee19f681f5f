// docs/stores.md says what each store can hold and do: what the stores themselves say.

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "contract/store_contract.h"
#include "reprise/store.h"
#include "reprise/store_offers.h"
#include "support/must.h"
#include "support/temporary_folder.h"

namespace reprise::test {
namespace {

struct Row {
  std::string_view what;
  bool (*has)(const StoreHolds& holds, const StoreOffers& offers);
};
using Holds = StoreHolds;
using Offers = StoreOffers;
constexpr Row kRows[] = {
    {"many sessions", [](const Holds& h, const Offers&) { return h.many_sessions; }},
    {"the words of messages", [](const Holds& h, const Offers&) { return h.words; }},
    {"tool calls, thinking, images", [](const Holds& h, const Offers&) { return h.blocks; }},
    {"model, usage, response id of each message",
     [](const Holds& h, const Offers&) { return h.message_details; }},
    {"system prompt", [](const Holds& h, const Offers&) { return h.system_prompt; }},
    {"settings of the session", [](const Holds& h, const Offers&) { return h.config; }},
    {"mode", [](const Holds& h, const Offers&) { return h.modes; }},
    {"folder", [](const Holds& h, const Offers&) { return h.folders; }},
    {"running answers survive a crash",
     [](const Holds&, const Offers& o) { return o.partials != nullptr; }},
    {"retry and rewind", [](const Holds&, const Offers& o) { return o.rewriting != nullptr; }},
    {"forks that share their beginning",
     [](const Holds&, const Offers& o) { return o.forking != nullptr; }},
    {"todos", [](const Holds&, const Offers& o) { return o.todos != nullptr; }},
    {"artefacts of a turn", [](const Holds&, const Offers& o) { return o.artefacts != nullptr; }},
    {"a current session", [](const Holds&, const Offers& o) { return o.current != nullptr; }},
    {"archive", [](const Holds&, const Offers& o) { return o.archives != nullptr; }},
    {"large blobs kept once", [](const Holds&, const Offers& o) { return o.blobs != nullptr; }},
    {"trash", [](const Holds&, const Offers& o) { return o.trash != nullptr; }},
    {"verify", [](const Holds&, const Offers& o) { return o.verifying != nullptr; }},
    {"repair", [](const Holds&, const Offers& o) { return o.repair != nullptr; }},
    {"backup", [](const Holds&, const Offers& o) { return o.backup != nullptr; }},
};

std::string table() {
  std::string head = "| |";
  std::string line = "|---|";
  std::vector<std::unique_ptr<TemporaryFolder>> folders;
  std::vector<std::unique_ptr<Store>> stores;
  for (const StoreCase& store : store_cases()) {
    folders.push_back(std::make_unique<TemporaryFolder>());
    stores.push_back(must(store.open(folders.back()->path(), {})));
    head += cat(" `", store.name, "` |");
    line += ":-:|";
  }
  std::string out = cat(head, "\n", line, "\n");
  for (const Row& row : kRows) {
    out += cat("| ", row.what, " |");
    for (const auto& store : stores) {
      out += row.has(store->holds(), store->offers()) ? " yes |" : " |";
    }
    out += "\n";
  }
  return out;
}

TEST(StoresTable, IsWhatTheStoresSay) {
  const std::string page = must(read_file(std::filesystem::path(PROJECT_DOCS) / "stores.md"));
  const std::string wanted = table();
  EXPECT_NE(page.find(wanted), std::string::npos) << "docs/stores.md lacks:\n" << wanted;
}

}  // namespace
}  // namespace reprise::test
