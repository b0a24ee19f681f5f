// A full disk: the old file is preserved byte for byte.

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "support/build.h"
#include "support/must.h"
#include "support/small_disk.h"

namespace reprise::test {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<Store> open_at(const fs::path& folder, const StoreOptions& options = {}) {
  return must(open_chain_store(folder / "conversations.json", options));
}

Message answered(const std::string& response) {
  Message message;
  message.role = role::kAssistant;
  message.provider = "openai-responses";
  message.response_id = response;
  message.created_at = at(1);
  return message;
}

TEST(ChainOnAFullDisk, FailsAndKeepsTheOldFileByteForByte) {
  const TemporaryFolder folder;
  const SmallDisk disk(folder.path());
  if (!disk.is_mounted()) {
    GTEST_SKIP() << "mounting a small disk needs root";
  }
  const auto store = open_at(folder.path());
  must(store->create(session("s")));
  const std::string before = must(read_file(folder.path() / "conversations.json"));
  disk.fill();
  EXPECT_TRUE(
      fails(store->append(session_id("s"), {answered(std::string(50'000, 'x'))}, {}), Code::io));
  EXPECT_EQ(must(read_file(folder.path() / "conversations.json")), before);
  EXPECT_EQ(must(open_at(folder.path(), {.access = Access::read})->list({})).sessions.size(), 1U);
  fs::remove(folder.path() / "filler");
  EXPECT_TRUE(works(store->append(session_id("s"), {answered("r")}, {})));
  disk.fill();
  EXPECT_TRUE(works(store->capabilities().trash->trash(session_id("s"), at(1))))
      << "from the reserve";
}

}  // namespace
}  // namespace reprise::test
