// All commands that count, repeat or remove turns have the same definition of a question, even if
// the user's text is in one message with tool results.

#include "base/text.h"
#include "program/program_fixture.h"
#include "reprise/open_store.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

const std::string kQuestions = "01990000-0000-7000-8000-000000000001";

class QuestionsTest : public ProgramTest, public testing::WithParamInterface<const char*> {
 protected:
  std::string url() const { return cat(GetParam(), ":store"); }

  void begin() {
    const std::unique_ptr<Store> store = must(open_store(url(), {}));
    Session session = test::session(kQuestions);
    session.info.working_dir = project();
    session.info.provider = "echo";
    must(store->create(session));
    Message call = message(role::kAssistant, "", at(2));
    call.blocks = {ToolUseBlock{"c1", "look", raw("{}"), {}}};
    Message result = message(role::kUser, "", at(3));
    result.blocks = {ToolResultBlock{"c1", "found", false, {}, {}}, TextBlock{"SECOND", {}}};
    must(store->append(session.info.id,
                       {user("FIRST"), call, result, assistant("an answer", at(4))}, {}));
  }

  std::vector<std::string> stored_messages() {
    const std::unique_ptr<Store> store = must(open_store(url(), {.access = Access::read}));
    std::vector<std::string> texts;
    for (const Message& message : must(read_all(*store, session_id(kQuestions)))) {
      texts.push_back(plain_text(message));
    }
    return texts;
  }

  Done chat(const std::string& line) {
    return run_piped({"--store", url(), "chat", "--plain", "-r", kQuestions}, line + "\n", 100);
  }
};

TEST_P(QuestionsTest, WordsBesideAResultAreAskedAgain) {
  begin();
  const Done done = chat("/retry");
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_NE(done.err.find("you: SECOND"), std::string::npos) << done.err;
  const std::vector<std::string> now = stored_messages();
  ASSERT_EQ(now.size(), 4U);
  EXPECT_EQ(now[2], "SECOND");
  EXPECT_NE(now[3], "an answer");
  EXPECT_NE(now[3].find("SECOND"), std::string::npos) << now[3];
}

TEST_P(QuestionsTest, WordsBesideAResultAreTheTurnTakenBack) {
  begin();
  EXPECT_EQ(chat("/rewind 1").code, 0);
  EXPECT_EQ(stored_messages(), (std::vector<std::string>{"FIRST", ""}));
}

TEST_P(QuestionsTest, WordsBesideAResultAreATurnOfTheirOwn) {
  begin();
  const Done done = run({"--store", url(), "info", kQuestions, "--json"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_NE(done.out.find(R"("turns":[{"seq":0,"messages":2,)"), std::string::npos) << done.out;
  EXPECT_NE(done.out.find(R"({"seq":2,"messages":2,)"), std::string::npos) << done.out;
}

INSTANTIATE_TEST_SUITE_P(Stores, QuestionsTest, testing::Values("sqlite", "sessions", "chatdir"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace reprise::test
