// Statements of docs/formats/context.md that no other test checks.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "context/context_fixture.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class ContextFormat : public testing::Test {
 protected:
  std::string bytes() const { return must(read_file(file_)); }
  static SessionId only(Store& store) { return must(store.list({})).sessions.at(0).id; }

  TemporaryFolder folder_;
  fs::path file_ = folder_.path() / "openai.json";
};

TEST_F(ContextFormat, MembersAreInOrderAndTheFileEndsWithALineEnd) {
  must(replace_file(file_, R"({"zeta":1.0,"env_key":"K","meta":{"notes":"n","total_turns":9},)"
                           R"("model":"m","conversation":[],"provider":"openai"})"));
  const auto store = must(open_context_store(file_));
  must(store->create(session("s")));
  must(store->append(session_id("s"), {user("q"), assistant("a")}, {}));
  const std::string text = bytes();
  EXPECT_TRUE(text.starts_with("{\n  \"provider\": \"openai\"")) << text;
  EXPECT_TRUE(text.ends_with("\n}\n")) << text;
  std::size_t at = 0;
  for (const char* const name : {"provider", "base_url", "model", "stream_default",
                                 "save_path_default", "env_key", "conversation", "meta", "zeta"}) {
    const std::size_t found = text.find(cat("\n  \"", name, "\": "));
    ASSERT_NE(found, std::string::npos) << name << " in " << text;
    EXPECT_GE(found, at) << name;
    at = found;
  }
  EXPECT_THAT(text, HasSubstr("\"zeta\": 1.0"));
  EXPECT_THAT(text, HasSubstr("\"total_turns\": 10")) << "counted on, not corrected";
}

TEST_F(ContextFormat, AMessageHasTheMembersOfTheOriginal) {
  must(replace_file(file_, kOriginalContext));
  const auto store = must(open_context_store(file_));
  Message cut = assistant("half", at(101, 5'000));
  cut.state = MessageState::incomplete;
  must(store->append(only(*store), {user("10 + 11", at(100)), cut}, {}));
  const std::string text = bytes();
  const std::size_t offset = std::string_view(kOriginalContext).find("\n  ],");
  EXPECT_EQ(text.substr(0, offset), kOriginalContext.substr(0, offset)) << "nothing is rewritten";
  EXPECT_THAT(text, HasSubstr("      \"role\": \"user\",\n      \"content\": \"10 + 11\",\n"
                              "      \"timestamp\": \""));
  EXPECT_THAT(text, HasSubstr("\"incomplete\": true"));
  EXPECT_THAT(text, HasSubstr(".005Z")) << "milliseconds";
}

TEST_F(ContextFormat, TheTrashHasTheSameFormatAndTheLockReservesSpace) {
  must(replace_file(file_, kOriginalContext));
  const auto store = must(open_context_store(file_));
  const SessionId id = only(*store);
  must(store->capabilities().trash->trash(id, at(1)));
  const fs::path trashed = folder_.path() / "openai.json.trash" / cat(id.str(), ".json");
  EXPECT_THAT(must(read_file(trashed)), HasSubstr("10 + 11 equals 21."));
  EXPECT_EQ(bytes().find("10 + 11"), std::string::npos);
  EXPECT_THAT(bytes(), HasSubstr("\"model\": \"gpt-4o-mini\"")) << "the settings stay";
  struct stat status{};
  ASSERT_EQ(::stat((folder_.path() / "openai.json.lock").c_str(), &status), 0);
  EXPECT_GE(status.st_blocks * 512, 256 << 10);
}

TEST_F(ContextFormat, AFileThatIsNotJsonIsQuarantinedUnderANewName) {
  for (const char* const garbage : {"no JSON", "still none"}) {
    must(replace_file(file_, garbage));
    const auto store = must(open_context_store(file_));
    must(store->create(session("s")));
    must(store->capabilities().trash->purge(session_id("s")));
  }
  std::vector<std::string> aside;
  for (const auto& entry : fs::directory_iterator(folder_.path())) {
    if (entry.path().filename().native().starts_with("openai.json.bak-")) {
      aside.push_back(must(read_file(entry.path())));
    }
  }
  EXPECT_THAT(aside, testing::UnorderedElementsAre("no JSON", "still none"));
}

TEST_F(ContextFormat, ToolCallsAreInTheMemberOfTheAnswer) {
  must(replace_file(file_, kOriginalContext));
  const auto store = must(open_context_store(file_));
  Message call = assistant("");
  call.blocks = {ToolUseBlock{"t1", "look", RawJson{}, {}}};
  Message result = user("");
  result.role = role::kTool;
  result.blocks = {ToolResultBlock{"t1", "seen", false, {}, {}}};
  must(store->append(only(*store), {user("q"), call, result}, {}));
  EXPECT_THAT(bytes(), HasSubstr("\"after\":{"));
  must(store->append(only(*store), {assistant("done")}, {}));
  EXPECT_THAT(bytes(), HasSubstr("\"before\":["));
  EXPECT_EQ(bytes().find("\"role\": \"tool\""), std::string::npos);
  EXPECT_EQ(must(read_all(*must(open_context_store(file_)), only(*store))).size(), 8U);
}

}  // namespace
}  // namespace reprise::test
