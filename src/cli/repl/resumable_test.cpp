#include "cli/repl/resumable.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <filesystem>

#include "base/testing/temporary_folder.h"
#include "cli/program/store_opener.h"
#include "cli/settings/program_config.h"
#include "reprise/store.h"

namespace reprise::cli {
namespace {

namespace fs = std::filesystem;

// Folders p and q, with a closed session each, and an open one in p.
class ResumableTest : public testing::TestWithParam<const char*> {
 protected:
  ResumableTest() {
    fs::create_directories(folder_.path() / "p");
    fs::create_directories(folder_.path() / "q");
    closed_of_p_ = begin("closed of p", "p", SessionState::closed);
    open_of_p_ = begin("open of p", "p", SessionState::active);
    closed_of_q_ = begin("closed of q", "q", SessionState::closed);
  }

  Store& store() { return **context_.stores().open(); }

  SessionId begin(std::string title, std::string_view folder, SessionState state) {
    static int number = 0;
    const SessionId id = *SessionId::parse(
        cat("0a1b2c3d-0000-4000-8000-00000000000", std::to_string(++number % 10)));
    Session session{.info = {.id = id,
                             .title = std::move(title),
                             .model = "m",
                             .working_dir = (folder_.path() / folder).string()}};
    EXPECT_TRUE(store().create(session));
    if (state == SessionState::closed) {
      EXPECT_TRUE(store().update(id, {.state = state, .closed_at = std::optional(Time())}));
    }
    return id;
  }

  // As another chat has it open.
  TemporaryFile open(const SessionId& id) {
    const Session session = *get(store(), id);
    return *mark_open(context_.config().state_folder(),
                      {.store_url = context_.config().absolute_url(**context_.config().settings()),
                       .id = id,
                       .folder = session.info.working_dir});
  }

  Globals globals(std::string store) const {
    Globals out;
    out.store = std::move(store);
    return out;
  }

  test::TemporaryFolder folder_;
  Globals globals_ = globals(cat(GetParam(), ":", (folder_.path() / "store").string()));
  ProcessEnvironment environment_{{{"HOME", folder_.path().string()}}};
  Fd discarded_{::memfd_create("out", MFD_CLOEXEC)};
  Output out_{discarded_.get(), "standard output"};
  Context context_{globals_, environment_, out_, out_};
  Resumable resumable_{context_};
  SessionId closed_of_p_ = *SessionId::parse("none");
  SessionId open_of_p_ = closed_of_p_;
  SessionId closed_of_q_ = closed_of_p_;
};

using ResumableSessionsTest = ResumableTest;
using ResumableDatabaseTest = ResumableTest;

TEST_P(ResumableSessionsTest, LeavesOutProjectsThatAreOpen) {
  const TemporaryFile mark = open(open_of_p_);
  const std::string list = *resumable_.list({});
  EXPECT_TRUE(list.contains("1. closed of q (")) << list;
  EXPECT_FALSE(list.contains("of p")) << list;
  EXPECT_EQ(*resumable_.numbered("1"), closed_of_q_.str());
  const auto refused = resumable_.check_not_open(*resumable_.find(closed_of_p_.str(), ""), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "Project already open in another session.");
  EXPECT_TRUE(resumable_.check_not_open(*resumable_.find(closed_of_q_.str(), ""), {}));
  // A chat with one session leaves it for the next one.
  EXPECT_TRUE(resumable_.list({.ids = {open_of_p_}})->contains("closed of p"));
  EXPECT_FALSE(resumable_.list({.ids = {open_of_p_}, .stay_open = true})->contains("of p"));
}

TEST_P(ResumableSessionsTest, ListsWhatAKilledProcessHadOpen) {
  {
    const TemporaryFile mark = open(open_of_p_);
    EXPECT_FALSE(resumable_.list({})->contains("of p"));
  }
  EXPECT_TRUE(resumable_.list({})->contains("open of p"));
  const fs::path left = context_.config().state_folder() / "open" / "x.reprise-0.tmp";
  {
    const TemporaryFile mark = open(open_of_p_);
    fs::copy_file(mark.name(), left);
  }
  EXPECT_TRUE(resumable_.list({})->contains("open of p"));
  EXPECT_FALSE(fs::exists(left));
}

TEST_P(ResumableSessionsTest, AnOpenSessionIsNotDeleted) {
  const TemporaryFile mark = open(open_of_p_);
  EXPECT_EQ(resumable_.remove(open_of_p_.str(), {}).error().message,
            "That session is open; close it first.");
  EXPECT_TRUE(resumable_.remove(closed_of_p_.str(), {}));
}

TEST_P(ResumableDatabaseTest, ListsWhatIsOpenElsewhere) {
  const TemporaryFile mark = open(open_of_p_);
  const std::string list = *resumable_.list({});
  EXPECT_TRUE(list.contains("closed of q")) << list;
  EXPECT_TRUE(list.contains("closed of p")) << list;
  EXPECT_TRUE(list.contains("open of p (" + (folder_.path() / "p").string() + ") - open elsewhere"))
      << list;
  EXPECT_TRUE(resumable_.check_not_open(*resumable_.find(open_of_p_.str(), ""), {}));
}

INSTANTIATE_TEST_SUITE_P(All, ResumableSessionsTest, testing::Values("sessions"));
INSTANTIATE_TEST_SUITE_P(All, ResumableDatabaseTest, testing::Values("sqlite"));

}  // namespace
}  // namespace reprise::cli
