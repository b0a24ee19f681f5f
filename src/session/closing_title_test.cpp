#include "session/closing_title.h"

#include <gtest/gtest.h>

#include "reprise/sessions.h"

namespace reprise {
namespace {

Result<std::string> good() {
  return std::string("Mana base advice");
}

Result<std::string> bad() {
  return fail(Code::timeout, "no title came");
}

ClosingTitle facts_of(std::string_view title) {
  return {.title = title, .first_prompt = "How many lands?", .answered = true, .ask = good};
}

TEST(ClosingTitle, ReplacesADefaultTitle) {
  EXPECT_EQ(closing_title(facts_of("")), "Mana base advice");
  EXPECT_EQ(closing_title(facts_of("How many lands?")), "Mana base advice");
  EXPECT_EQ(closing_title(facts_of(kInterruptedTitle)), "Mana base advice");
}

TEST(ClosingTitle, KeepsAChosenTitle) {
  ClosingTitle facts = facts_of("My own");
  facts.ask = [] {
    ADD_FAILURE() << "asked for a title nobody needs";
    return good();
  };
  EXPECT_EQ(closing_title(facts), std::nullopt);
  facts.interrupted = true;
  EXPECT_EQ(closing_title(facts), std::nullopt);
}

TEST(ClosingTitle, FallsBackToTheFirstPrompt) {
  ClosingTitle facts = facts_of("");
  facts.ask = bad;
  EXPECT_EQ(closing_title(facts), "How many lands?");
  facts.ask = [] { return Result<std::string>(""); };
  EXPECT_EQ(closing_title(facts), "How many lands?");
  facts.ask = {};
  EXPECT_EQ(closing_title(facts), "How many lands?");
  facts.ask = good;
  facts.answered = false;
  EXPECT_EQ(closing_title(facts), "How many lands?");
}

TEST(ClosingTitle, NeverReplacesAGoodTitleByAFailure) {
  ClosingTitle facts = facts_of("How many lands?");
  facts.ask = bad;
  EXPECT_EQ(closing_title(facts), std::nullopt);
}

TEST(ClosingTitle, MarksAnInterruptedSession) {
  ClosingTitle facts = facts_of("");
  facts.interrupted = true;
  EXPECT_EQ(closing_title(facts), kInterruptedTitle);
  facts.title = "How many lands?";
  EXPECT_EQ(closing_title(facts), std::nullopt);
}

TEST(ClosingTitle, NeedsAPrompt) {
  ClosingTitle facts = facts_of("");
  facts.first_prompt = "";
  EXPECT_EQ(closing_title(facts), std::nullopt);
  facts.interrupted = true;
  EXPECT_EQ(closing_title(facts), std::nullopt);
}

}  // namespace
}  // namespace reprise
