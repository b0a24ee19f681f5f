// The table in docs/stores.md must match the capabilities of the stores.

#include <gtest/gtest.h>

#include <algorithm>

#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "contract/store_contract.h"
#include "reprise/capabilities.h"
#include "reprise/store.h"
#include "store/chatdir/layout.h"
#include "support/must.h"
#include "support/store_files.h"

namespace reprise::test {
namespace {

struct Row {
  std::string_view what;
  bool (*has)(const Capabilities& can);
};
using Can = Capabilities;
constexpr Row kRows[] = {
    {"many sessions", [](const Can& can) { return can.many_sessions; }},
    {"the text of messages", [](const Can& can) { return can.messages; }},
    {"tool calls, thinking, images", [](const Can& can) { return can.blocks; }},
    {"author, model, usage, response id of each message",
     [](const Can& can) { return can.message_details; }},
    {"system prompt", [](const Can& can) { return can.system_prompt; }},
    {"settings of the session", [](const Can& can) { return can.config; }},
    {"mode", [](const Can& can) { return can.modes; }},
    {"folder", [](const Can& can) { return can.folders; }},
    {"running answers survive a crash", [](const Can& can) { return can.partials != nullptr; }},
    {"retry and rewind", [](const Can& can) { return can.rewriting != nullptr; }},
    {"forks that share their beginning", [](const Can& can) { return can.forking != nullptr; }},
    {"todos", [](const Can& can) { return can.todos != nullptr; }},
    {"artefacts of a turn", [](const Can& can) { return can.artefacts != nullptr; }},
    {"a current session", [](const Can& can) { return can.current_session != nullptr; }},
    {"archive", [](const Can& can) { return can.archives != nullptr; }},
    {"large blobs stored once", [](const Can& can) { return can.blobs != nullptr; }},
    {"trash", [](const Can& can) { return can.trash != nullptr; }},
    {"verify", [](const Can& can) { return can.verifier != nullptr; }},
    {"repair", [](const Can& can) { return can.repair != nullptr; }},
    {"backup", [](const Can& can) { return can.backup != nullptr; }},
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
      out += row.has(store->capabilities()) ? " yes |" : " |";
    }
    out += "\n";
  }
  return out;
}

TEST(StoresTable, MatchesTheCapabilities) {
  const std::string page = must(read_file(std::filesystem::path(PROJECT_DOCS) / "stores.md"));
  const std::string expected = table();
  EXPECT_NE(page.find(expected), std::string::npos) << "docs/stores.md lacks:\n" << expected;
}

TEST(StoreFiles, CoverEveryKind) {
  for (const StoreKind& kind : store_kinds()) {
    if (kind.location == StoreKind::Location::file ||
        kind.location == StoreKind::Location::folder) {
      EXPECT_NE(std::ranges::find(kStoreFiles, kind.name, &StoreFile::kind), kStoreFiles.end())
          << kind.name;
    }
  }
}

TEST(StoreFiles, NameTheArchiveOfTheChat) {
  const auto name = store::chatdir::archive_name(must(SessionId::parse(kStoreFilesId)));
  const auto* const archive = std::ranges::find(kStoreFiles, "chat_archive", &StoreFile::name);
  ASSERT_TRUE(name);
  EXPECT_EQ(archive->file, cat("chats/archive/", *name, "/chat.zip"));
}

}  // namespace
}  // namespace reprise::test
