// A session whose answer is running now is left alone by every command that would take it away:
// that is said, and the exit code is 1.

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "program/program_fixture.h"
#include "reprise/capabilities.h"
#include "reprise/error.h"
#include "reprise/message.h"
#include "reprise/open_store.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

const std::string kRunning = "01990000-0000-7000-8000-000000000001";

class RunningTest : public ProgramTest, public testing::WithParamInterface<const char*> {
 protected:
  std::string url() const { return cat(GetParam(), ":store"); }

  std::unique_ptr<Store> open() { return must(open_store(url(), {})); }

  void begin() {
    store_ = open();
    Session running = session(kRunning);
    running.info.working_dir = project();
    must(store_->create(running));
    must(store_->append(session_id(kRunning), {user("a question")},
                        {.begin_partial = PartialStart{operation_id("running"), this_process(),
                                                       "echo", "m", at(2)}}));
  }

  Store& store() { return *store_; }

 private:
  std::unique_ptr<Store> store_;
};

TEST_P(RunningTest, IsNotTakenAway) {
  begin();
  const std::vector<std::vector<std::string>> takings = {
      {"delete", kRunning},  {"delete", kRunning, "--purge"},
      {"archive", kRunning}, {"clear"},
      {"clear", "--purge"},  {"close", kRunning},
  };
  for (const auto& taking : takings) {
    std::vector<std::string> words = {"--store", url(), "--yes"};
    words.insert(words.end(), taking.begin(), taking.end());
    SCOPED_TRACE(cat(taking[0], " ", taking.back()));
    const Done done = run(words);
    const bool has_nothing_to_take = taking[0] == "clear" && store().capabilities().archives !=
                                                                 nullptr;  // it takes archived ones
    if (!has_nothing_to_take) {
      EXPECT_EQ(done.code, 1) << done.err;
      EXPECT_NE(done.err, "");
    }
    const Session now = must(get(store(), session_id(kRunning)));
    EXPECT_EQ(now.info.state, SessionState::active);
    EXPECT_TRUE(now.info.answering);
    EXPECT_EQ(must(read_all(store(), session_id(kRunning))).size(), 1U);
  }
  // The answer ends as if nothing had been.
  must(store().append(session_id(kRunning), {assistant("an answer")},
                      {.end_partial = operation_id("running")}));
  EXPECT_EQ(run({"--store", url(), "--yes", "delete", kRunning}).code, 0);
}

INSTANTIATE_TEST_SUITE_P(Stores, RunningTest, testing::Values("sqlite", "sessions", "chatdir"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace reprise::test
