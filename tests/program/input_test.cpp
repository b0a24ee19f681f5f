// Input from a pipe.

#include "base/text.h"
#include "program/program_fixture.h"
#include "reprise/open_store.h"
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

}  // namespace
}  // namespace reprise::test
