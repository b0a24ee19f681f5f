// A conversation of 50 turns with tools in a store with response ids only: the text remains at the
// provider, and each run of the program starts from scratch and continues with the last id.

#include <gtest/gtest.h>

#include "base/testing/temporary_folder.h"
#include "base/text.h"
#include "e2e/turns.h"
#include "fake_provider/fake_provider.h"
#include "reprise/conversation.h"
#include "reprise/open_store.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::e2e {
namespace {

using test::must;

constexpr std::int64_t kTurns = 50;
constexpr std::int64_t kTurnsOfARun = 7;

std::string question_of_turn(std::int64_t turn) {
  switch (turn % 4) {
    case 0:
      return cat("turn ", turn, ": hello");
    case 1:
      return cat("turn ", turn, ": think about it");
    case 2:
      return cat("turn ", turn, R"(: call:add {"a":)", turn, "}");
    default:
      return cat("turn ", turn, ": rounds:2 call:add {} call:fail {}");
  }
}

TEST(ConversationWithoutWords, ContinuesByResponseIdsInManyRuns) {
  const auto server = must(fake::FakeProvider::start({.port = 0, .key = "", .seed = 11}));
  const test::TemporaryFolder folder;
  const std::string url = cat("chain:", (folder.path() / "index.json").native());
  const Session created = test::session("0190a3c2-0000-7000-8000-000000000002");
  ToolRegistry tools;
  add_tools(tools);
  TurnObserver observer;
  std::int64_t turn = 0;
  for (bool first = true; turn < kTurns; first = false) {
    const auto store = must(open_store(url));
    const auto provider =
        must(make_provider("openai-responses", {.base_url = cat(server->url(), "/v1")}));
    const Session session = first ? created : must(get(*store, created.info.id));
    EXPECT_EQ(session.response_chain.size(), static_cast<std::size_t>(turn));
    Conversation conversation(*provider, store.get(), session, {.model = "m", .tools = &tools});
    for (std::int64_t i = 0; i < kTurnsOfARun && turn < kTurns; ++i, ++turn) {
      const Outcome outcome = must(conversation.ask(question_of_turn(turn), observer));
      ASSERT_TRUE(outcome.saved && !outcome.error) << "turn " << turn;
      const Session now = must(get(*store, created.info.id));
      ASSERT_FALSE(now.response_chain.empty());
      EXPECT_EQ(now.response_chain.back().response_id, outcome.answer.response_id);
    }
  }
  const auto store = must(open_store(url, {.access = Access::read}));
  EXPECT_EQ(must(get(*store, created.info.id)).response_chain.size(),
            static_cast<std::size_t>(kTurns));
  EXPECT_EQ(server->violations(), std::vector<std::string>{});
}

}  // namespace
}  // namespace reprise::e2e
