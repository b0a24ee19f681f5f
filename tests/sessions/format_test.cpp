// Statements of docs/formats/sessions.md that no other test checks.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "sessions/fixture.h"
#include "store/document/document_format.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class SessionsFormat : public testing::Test {
 protected:
  fs::path root() const { return folder_.path() / "sessions"; }
  std::string bytes(std::string_view name) const { return must(read_file(root() / name)); }
  void put(std::string_view name, std::string_view text) const {
    must(make_private_folders((root() / name).parent_path()));
    must(replace_file(root() / name, text));
  }
  SessionId id_ = session_id(kFixtureId);
  std::string name_ = cat(kFixtureId, ".json");

 private:
  TemporaryFolder folder_;
};

TEST_F(SessionsFormat, TheTrashAndBackChangesNoByte) {
  const std::string before = cat(fixture(), "\n \n");
  put(name_, before);
  const auto store = must(open_sessions_store(root()));
  must(store->capabilities().trash->trash(id_, at(1)));
  EXPECT_EQ(bytes(cat("trash/", name_)), before);
  must(store->capabilities().trash->restore(id_));
  EXPECT_EQ(bytes(name_), before);
}

TEST_F(SessionsFormat, ARunningAnswerIsBesideItsFileUntilItEnds) {
  const auto store = must(open_sessions_store(root()));
  must(store->create(session(kFixtureId)));
  must(store->append(id_, {user("q")}, {.begin_partial = running_answer("a")}));
  must(store->capabilities().partials->add_partial(id_, operation_id("a"),
                                                   std::vector<Block>{TextBlock{"half", {}}}));
  const std::string partial = cat("active/", kFixtureId, ".partial");
  EXPECT_THAT(bytes(partial), HasSubstr("half"));
  must(store->append(id_, {assistant("whole")}, {.end_partial = operation_id("a")}));
  EXPECT_FALSE(fs::exists(root() / partial));
}

TEST_F(SessionsFormat, OtherFilesAreLeftAloneAndTheLockStays) {
  put("notes.txt", "mine");
  put("active/draft.json~", "mine, too");
  {
    const auto store = must(open_sessions_store(root()));
    must(store->create(session(kFixtureId)));
    const SessionPage page = must(store->list({}));
    EXPECT_EQ(page.sessions.size(), 1U);
    EXPECT_TRUE(page.damage.empty());
    must(store->capabilities().trash->purge(id_));
  }
  EXPECT_EQ(bytes("notes.txt"), "mine");
  EXPECT_EQ(bytes("active/draft.json~"), "mine, too");
  EXPECT_TRUE(fs::exists(root() / ".lock"));
}

TEST_F(SessionsFormat, AFileIsPrettyWithoutALineEndAndItsKeysAreInOrder) {
  const auto store = must(open_sessions_store(root()));
  must(store->create(full_session(kFixtureId)));
  const fs::path file = fs::exists(root() / name_) ? fs::path(name_) : fs::path("active") / name_;
  const std::string text = bytes(file.native());
  EXPECT_TRUE(text.starts_with("{\n  \"")) << text;
  EXPECT_TRUE(text.ends_with("\n}")) << text;
  std::string before;
  for (std::size_t at = text.find("\n  \""); at != std::string::npos;
       at = text.find("\n  \"", at + 1)) {
    const std::string key = text.substr(at + 4, text.find('"', at + 4) - at - 4);
    EXPECT_LT(before, key);
    before = key;
  }
  EXPECT_THAT(text, Not(HasSubstr("cumulative_usage"))) << "nothing was used";
  struct stat status{};
  ASSERT_EQ(::stat((root() / file).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(SessionsFormat, UsageIsWrittenOnlyIfNonzero) {
  const auto store = must(open_sessions_store(root()));
  must(store->create(session(kFixtureId)));
  Message answer = assistant("a");
  answer.usage = usage("r", 12, 3);
  must(store->append(id_, {answer}, {}));
  const std::string text = bytes(cat("active/", name_));
  EXPECT_THAT(text, HasSubstr("\"cumulative_usage\": {\n    \"input_tokens\": 12"));
}

TEST_F(SessionsFormat, AMessageWithoutAnIdGetsOneWhenItIsWritten) {
  const std::string unchanged = written(
      read(file_with(R"({"role":"user", "content":"x",  "timestamp":"2025-12-16T15:00:00Z"})",
                     R"(,"strange":1.50)")));
  EXPECT_THAT(unchanged, HasSubstr(R"({"role":"user", "content":"x",  "timestamp":)"))
      << "what nobody changed stays as it was";
  EXPECT_THAT(unchanged, HasSubstr("\"strange\": 1.50"));
  const auto store = must(open_sessions_store(root()));
  must(store->create(session(kFixtureId)));
  must(store->append(id_, {user("a"), user("b")}, {}));
  const std::string text = bytes(cat("active/", name_));
  EXPECT_THAT(text, HasSubstr(R"("id": "reprise-0")"));
  EXPECT_THAT(text, HasSubstr(R"("id": "reprise-1")"));
}

TEST_F(SessionsFormat, TimesAreReadInAllFormats) {
  const auto time_of = [](std::string_view spelled) {
    const store::FileSession session = read(file_with(entry("user", "x", spelled)));
    return session.stored.log->at(0)->created_at;
  };
  const Time expected = parse_time("2025-12-16T15:00:00.5Z").value();
  for (const char* const spelled : {"2025-12-16 15:00:00.5Z", "2025-12-16T16:00:00.500+01:00",
                                    "2025-12-16T15:00:00.500000", "2025-12-16T15:00:00.5Z"}) {
    EXPECT_EQ(time_of(spelled), expected) << spelled;
  }
}

TEST_F(SessionsFormat, OtherFilesAreReportedAndPreserved) {
  put("later.json", R"({"version":2,"conversation":[]})");
  put("list.json", "[]");
  fs::create_directories(root() / "folder.json");
  fs::create_symlink("later.json", root() / "link.json");
  const auto store = must(open_sessions_store(root(), {.access = Access::read}));
  const SessionPage page = must(store->list({}));
  EXPECT_TRUE(page.sessions.empty());
  EXPECT_EQ(page.damage.size(), 4U);
  EXPECT_EQ(bytes("later.json"), R"({"version":2,"conversation":[]})");
}

TEST_F(SessionsFormat, AnAppendThatMakesAFileTooLargeFailsAndChangesNothing) {
  const auto store = must(open_sessions_store(root()));
  must(store->create(session(kFixtureId)));
  must(store->append(id_, {user(std::string(6 << 20, 'x'))}, {}));
  const std::string before = bytes(cat("active/", name_));
  EXPECT_TRUE(fails(store->append(id_, {user(std::string(6 << 20, 'y'))}, {}), Code::unsupported));
  EXPECT_EQ(bytes(cat("active/", name_)), before);
}

// Lists do not verify signatures, which is expensive.
TEST_F(SessionsFormat, AListShowsSessionsWithFailedSignatures) {
  std::string changed = fixture();
  changed.replace(changed.find("\"version\""), 0, "\"added\": 1, ");
  put(name_, changed);
  must(replace_file(root().parent_path() / "machine_secret", kFixtureSecret));
  const auto store = must(open_sessions_store(root()));
  const SessionPage page = must(store->list({}));
  EXPECT_EQ(page.sessions.size(), 1U);
  EXPECT_TRUE(page.damage.empty());
  EXPECT_EQ(must(store->capabilities().signatures->signature(id_)), Signature::failed);
}

}  // namespace
}  // namespace reprise::test
