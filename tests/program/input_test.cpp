// Input from a pipe.

#include <algorithm>

#include "base/text.h"
#include "program/program_fixture.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

class InputTest : public ProgramTest {
 protected:
  // The stored question.
  std::string stored_question() {
    const auto store = must(open_sqlite_store(project() / "s.db", {.access = Access::read}));
    const auto sessions = must(store->list({})).sessions;
    return sessions.empty() ? "" : plain_text(must(read_all(*store, sessions[0].id)).at(0));
  }
};

// A text longer than any buffer, in which no parts are equal.
std::string long_text(std::size_t bytes) {
  std::string out;
  for (std::size_t line = 0; out.size() < bytes; ++line) {
    out += cat("line ", line, "\n");
  }
  out.resize(bytes);
  out.back() = '.';
  return out;
}

TEST_F(InputTest, IsTakenWholeHoweverLongAndInWhateverPieces) {
  const std::string text = long_text((std::size_t{1} << 20U) + 99'999);
  for (const std::size_t piece : {text.size(), std::size_t{4097}}) {
    const Done done = run_piped({"--store", "sqlite:s.db", "ask", "--new", "-q"}, text, piece);
    EXPECT_EQ(done.code, 0) << done.err;
    EXPECT_TRUE(stored_question() == text)
        << stored_question().size() << " bytes of " << text.size();
    EXPECT_TRUE(done.out == text + "\n") << "echoed " << done.out.size() << " bytes";
  }
}

TEST_F(InputTest, FollowsTheWords) {
  EXPECT_EQ(run_piped({"--store", "sqlite:s.db", "ask", "what", "is"}, "this?", 1).code, 0);
  EXPECT_EQ(stored_question(), "what is\n\nthis?");
}

TEST_F(InputTest, IsRefusedWhenItIsTooLong) {
  const std::string text((std::size_t{32} << 20U) + 2, 'x');
  const Done done = run_piped({"--store", "sqlite:s.db", "ask"}, text, std::size_t{1} << 16U);
  EXPECT_EQ(done.code, 1);
  EXPECT_NE(done.err.find("MiB"), std::string::npos) << done.err;
}

// A result that a store returns in several pieces.
TEST_F(InputTest, ALongResultIsShownWhole) {
  const std::string text = long_text((std::size_t{5} << 19U) + 7);
  {
    const auto store = must(open_sqlite_store(project() / "s.db", {}));
    ToolResultBlock result;
    result.tool_use_id = "call";
    result.text = "the beginning";
    result.blob = must(store->capabilities().blobs->put_blob(text));
    must(store->create(session("s")));
    Message message;
    message.role = role::kTool;
    message.blocks = {result};
    must(store->append(session_id("s"), {user("q"), message}, {}));
  }
  const Done done = run({"--store", "sqlite:s.db", "show", "--full", "--raw", "s"});
  EXPECT_EQ(done.code, 0) << done.err;
  std::size_t lines = 0;
  for (std::size_t at = 0; (at = done.out.find("line ", at)) != std::string::npos; ++at) {
    ++lines;
  }
  EXPECT_EQ(lines, static_cast<std::size_t>(std::ranges::count(text, 'l')));
}

}  // namespace
}  // namespace reprise::test
