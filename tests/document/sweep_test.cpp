// Temporary files of processes that died: the next writer of the store removes them.

#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLeft = ".reprise-0.tmp";

struct Swept {
  std::string name;
  std::string url;  // without the folder
};

class Sweep : public testing::TestWithParam<Swept> {
 protected:
  std::string url() const {
    const std::string& named = GetParam().url;
    const std::size_t colon = named.find(':') + 1;
    return cat(named.substr(0, colon), (folder_.path() / named.substr(colon)).native());
  }
  // Creates temporary files beside each file of the store.
  std::vector<fs::path> leave() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
      if (entry.path().extension() == ".json") {
        files.push_back(fs::path(entry.path()) += kLeft);
      }
    }
    for (const fs::path& file : files) {
      std::ofstream(file) << "words of a process that died";
    }
    return files;
  }

  TemporaryFolder folder_;
};

TEST_P(Sweep, RemovesFilesOfDeadProcesses) {
  const std::string id = "01990000-0000-4000-8000-000000000001";
  must(must(open_store(url()))->create(session(id)));
  const auto left = leave();
  ASSERT_FALSE(left.empty());
  const fs::path other = folder_.path() / cat("notes", kLeft);
  std::ofstream(other) << "of another program";

  must(must(open_store(url(), {.access = Access::read}))->list({}));
  for (const fs::path& file : left) {
    EXPECT_TRUE(fs::exists(file)) << "who reads changes nothing: " << file;
  }
  must(must(open_store(url()))->update(session_id(id), {.title = "another"}));
  for (const fs::path& file : left) {
    EXPECT_FALSE(fs::exists(file)) << file;
  }
  EXPECT_TRUE(fs::exists(other));
}

// A purge also removes purged text in them.
TEST_P(Sweep, LeavesNoTextAfterAPurge) {
  const std::string id = "01990000-0000-4000-8000-000000000001";
  must(must(open_store(url()))->create(session(id)));
  const auto left = leave();
  must(must(open_store(url()))->capabilities().trash->purge(session_id(id)));
  for (const fs::path& file : left) {
    EXPECT_FALSE(fs::exists(file)) << file;
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, Sweep,
                         testing::ValuesIn(std::vector<Swept>{
                             {"sessions", "sessions:store"},
                             {"context", "context:c.json"},
                             {"chain", "chain:conversations.json"}}),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace reprise::test
