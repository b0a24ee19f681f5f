// What requests have taught about servers, in files for later processes.

#include "cli/session/server_notes.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "engine/lesson.h"

namespace reprise::cli {
namespace {

class ServerNoteFilesTest : public testing::Test {
 protected:
  // As another process has it.
  std::unique_ptr<ServerNotes> notes() const { return make_server_notes(folder_); }
  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> out;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      out.push_back(entry.path());
    }
    return out;
  }
  static unsigned mode_of(const std::filesystem::path& path) {
    struct stat status = {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return status.st_mode & 0777U;
  }

  const test::TemporaryFolder temporary_;
  std::filesystem::path folder_ = temporary_.path() / "state" / "servers";
};

TEST_F(ServerNoteFilesTest, ANoteIsReadByAnotherProcess) {
  EXPECT_EQ(notes()->read("p h m"), "") << "without a folder";
  ASSERT_TRUE(notes()->write("p h m", R"({"limit":1.0})"));
  ASSERT_TRUE(notes()->write("p h n", R"({"limit":2})"));
  EXPECT_EQ(notes()->read("p h m"), R"({"limit":1.0})");
  EXPECT_EQ(notes()->read("p h n"), R"({"limit":2})");
  EXPECT_EQ(notes()->read("p h"), "");
  ASSERT_TRUE(notes()->write("p h m", R"({"limit":3})"));
  EXPECT_EQ(notes()->read("p h m"), R"({"limit":3})");
  EXPECT_EQ(files().size(), 2U);
}

TEST_F(ServerNoteFilesTest, OthersCannotReadThem) {
  ASSERT_TRUE(notes()->write("p h m", "{}"));
  EXPECT_EQ(mode_of(folder_), 0700U);
  EXPECT_EQ(mode_of(files().front()), 0600U);
}

TEST_F(ServerNoteFilesTest, ADamagedFileIsNone) {
  ASSERT_TRUE(notes()->write("p h m", R"({"limit":3})"));
  const std::filesystem::path file = files().front();
  const std::string whole = *read_file(file, 1000);
  for (const std::string& text :
       {std::string(), whole.substr(0, whole.size() / 2), whole.substr(0, whole.size() - 2),
        std::string("[]"), std::string("{}"),
        std::string(R"({"server":"another","note":{"limit":3}})"),
        cat(R"({"server":"p h m","note":{"a":")", std::string(100'000, 'x'), "\"}}")}) {
    std::ofstream(file, std::ios::trunc) << text;
    EXPECT_EQ(notes()->read("p h m"), "") << text.substr(0, 60);
  }
  ASSERT_TRUE(notes()->write("p h m", R"({"limit":4})"));
  EXPECT_EQ(notes()->read("p h m"), R"({"limit":4})");
}

TEST_F(ServerNoteFilesTest, ALessonIsForgottenAfterThirtyDays) {
  constexpr std::chrono::days kThirty{30};
  const Maker target{"p", "h", "m"};
  const Time learned = *parse_time("2026-01-01T00:00:00Z");
  ASSERT_TRUE(write_lesson(*notes(), target,
                           {.form = {.strict_ids = true},
                            .form_at = learned,
                            .limit = TokenCount{5000},
                            .limit_at = learned}));
  const auto others = notes();
  const Lesson lesson =
      read_lesson(others.get(), target, learned + kThirty - std::chrono::hours(1));
  EXPECT_TRUE(lesson.form.strict_ids);
  EXPECT_EQ(lesson.limit.value, 5000);
  const Lesson late = read_lesson(others.get(), target, learned + kThirty);
  EXPECT_FALSE(late.form.strict_ids);
  EXPECT_EQ(late.limit.value, 0);
}

}  // namespace
}  // namespace reprise::cli
