#include "cli/session/tool_consent.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <fstream>
#include <stop_token>
#include <thread>

#include "base/file.h"
#include "base/testing/temporary_folder.h"

namespace reprise::cli {
namespace {

class ToolConsentsTest : public testing::Test {
 protected:
  ToolConsents consents(std::string folder, bool allow_all = false) {
    ToolConsents out(file_, allow_all);
    out.begin(std::move(folder));
    return out;
  }
  // Whether the tool may run if the user answers `says`.
  bool approves(ToolConsents& consents, std::string tool, Choice says) {
    const auto answer =
        consents.approve(ToolUseBlock{"1", std::move(tool), {}, {}}, [&](const ToolUseBlock&) {
          ++questions_;
          return says;
        });
    remembered_ = answer.remembered;
    return answer.approval == Approval::allow;
  }

  const test::TemporaryFolder temporary_;
  std::filesystem::path file_ = temporary_.path() / "state" / "consents.json";
  int questions_ = 0;
  Result<> remembered_;
};

TEST_F(ToolConsentsTest, AllowsTodosAndRecallWithoutConsent) {
  ToolConsents here = consents("/a");
  EXPECT_TRUE(approves(here, "todo_write", Choice::no));
  EXPECT_TRUE(approves(here, "recall", Choice::no));
  EXPECT_EQ(questions_, 0);
}

TEST_F(ToolConsentsTest, AsksOnceForASession) {
  ToolConsents here = consents("/a");
  EXPECT_FALSE(approves(here, "read_file", Choice::no));
  EXPECT_TRUE(approves(here, "read_file", Choice::once));
  EXPECT_TRUE(approves(here, "read_file", Choice::yes));
  EXPECT_EQ(questions_, 3);
  EXPECT_TRUE(approves(here, "read_file", Choice::no));
  EXPECT_TRUE(approves(here, "list_dir", Choice::no));
  EXPECT_EQ(questions_, 3);
  EXPECT_FALSE(approves(here, "recall_all", Choice::no));
  EXPECT_FALSE(approves(here, "somebody_elses", Choice::no));
  EXPECT_EQ(questions_, 5);
  ToolConsents another = consents("/a");
  EXPECT_FALSE(approves(another, "read_file", Choice::no));
  EXPECT_FALSE(std::filesystem::exists(file_));
}

TEST_F(ToolConsentsTest, RemembersAlwaysForTheFolder) {
  ToolConsents here = consents("/a");
  EXPECT_TRUE(approves(here, "read_file", Choice::always));
  EXPECT_TRUE(remembered_);
  EXPECT_EQ(read_file(file_).value_or(""), "{\"/a\":[\"files\"]}\n");
  ToolConsents again = consents("/a");
  EXPECT_TRUE(approves(again, "list_dir", Choice::no));
  EXPECT_FALSE(approves(again, "recall_all", Choice::no));
  ToolConsents below = consents("/a/b");
  EXPECT_FALSE(approves(below, "read_file", Choice::no));
}

TEST_F(ToolConsentsTest, RemembersWhatSeveralSessionsAllowAtOnce) {
  constexpr int kTools = 25;
  const auto allow = [this](const std::string& folder) {
    ToolConsents own = consents(folder);
    for (int i = 0; i < kTools; ++i) {
      const auto ask = [](const ToolUseBlock&) { return Choice::always; };
      EXPECT_TRUE(own.approve({"1", std::to_string(i), {}, {}}, ask).remembered);
    }
  };
  {
    const std::jthread first(allow, "/a");
    const std::jthread second(allow, "/b");
  }
  for (const std::string folder : {"/a", "/b"}) {
    ToolConsents own = consents(folder);
    for (int i = 0; i < kTools; ++i) {
      EXPECT_TRUE(approves(own, std::to_string(i), Choice::no)) << folder << i;
    }
  }
}

TEST_F(ToolConsentsTest, DoesNotOverwriteAForeignFile) {
  std::filesystem::create_directories(file_.parent_path());
  std::ofstream(file_) << "{\"/a\":[\"files\"";
  ToolConsents here = consents("/a");
  EXPECT_TRUE(approves(here, "read_file", Choice::always));
  EXPECT_FALSE(remembered_);
  EXPECT_EQ(questions_, 1);
  EXPECT_EQ(read_file(file_).value_or(""), "{\"/a\":[\"files\"");
}

TEST_F(ToolConsentsTest, DoesNotAskIfAllIsAllowed) {
  ToolConsents here = consents("/a", true);
  EXPECT_TRUE(approves(here, "read_file", Choice::no));
  EXPECT_EQ(questions_, 0);
}

TEST(ConsoleTest, AStopRequestAnswersAQuestionWithNo) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const Fd reading(ends[0]);
  const Fd writing(ends[1]);  // open and empty, like a terminal at which nobody types
  const Fd before(::dup(STDIN_FILENO));
  ASSERT_EQ(::dup2(reading.get(), STDIN_FILENO), STDIN_FILENO);
  const Globals globals;
  const Fd null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  Output out(null.get(), "standard output");
  Output err(null.get(), "standard error");
  Console console(globals, out, err);
  std::stop_source stop;
  const std::jthread signal([&stop] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    stop.request_stop();
  });
  EXPECT_EQ(console.ask_choice("run t {}?", stop.get_token()), Choice::no);
  ::dup2(before.get(), STDIN_FILENO);
}

}  // namespace
}  // namespace reprise::cli
