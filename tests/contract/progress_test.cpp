// Every store that supports verify, repair and backup reports their progress.

#include <gtest/gtest.h>

#include <map>

#include "contract/store_contract.h"
#include "reprise/capabilities.h"
#include "reprise/store.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

TEST_P(StoreContract, LongOperationsReportTheirProgress) {
  REPRISE_NEEDS(is_persistent());
  create("one", messages(2));
  if (capabilities().many_sessions) {
    create("two", messages(2));
    create("three", messages(2));
  }
  const TemporaryFolder copies;
  std::map<std::string, Progress> reported;
  const auto watched = open({.on_progress = [&](const Progress& progress) {
    Progress& last = reported[std::string(progress.work)];
    EXPECT_GE(progress.done, last.done);
    last = progress;
  }});
  const Capabilities& can = watched->capabilities();
  must(can.verifier->verify());
  EXPECT_EQ(reported.count("verifying"), 1U);
  EXPECT_GT(reported["verifying"].done, 0);
  if (can.repair != nullptr) {
    reported.clear();
    must(can.repair->repair_into(copies.path() / "repaired"));
    EXPECT_FALSE(reported.empty());
  }
  if (can.backup != nullptr) {
    must(can.backup->backup(copies.path() / "backup"));
    EXPECT_EQ(reported["backing up"].done, reported["backing up"].total);
    EXPECT_GT(reported["backing up"].total, 0);
  }
}

}  // namespace
}  // namespace reprise::test
