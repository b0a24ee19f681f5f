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

ClosingTitle closing_of(std::string_view title) {
  return {.title = title, .first_prompt = "How many lands?", .answered = true, .ask = good};
}

TEST(ClosingTitle, ReplacesADefaultTitle) {
  EXPECT_EQ(closing_title(closing_of("")), "Mana base advice");
  EXPECT_EQ(closing_title(closing_of("How many lands?")), "Mana base advice");
  EXPECT_EQ(closing_title(closing_of(kInterruptedTitle)), "Mana base advice");
}

TEST(ClosingTitle, KeepsAChosenTitle) {
  ClosingTitle closing = closing_of("My own");
  closing.ask = [] {
    ADD_FAILURE() << "asked for a title nobody needs";
    return good();
  };
  EXPECT_EQ(closing_title(closing), std::nullopt);
  closing.interrupted = true;
  EXPECT_EQ(closing_title(closing), std::nullopt);
}

TEST(ClosingTitle, FallsBackToTheFirstPrompt) {
  ClosingTitle closing = closing_of("");
  closing.ask = bad;
  EXPECT_EQ(closing_title(closing), "How many lands?");
  closing.ask = [] { return Result<std::string>(""); };
  EXPECT_EQ(closing_title(closing), "How many lands?");
  closing.ask = {};
  EXPECT_EQ(closing_title(closing), "How many lands?");
  closing.ask = good;
  closing.answered = false;
  EXPECT_EQ(closing_title(closing), "How many lands?");
}

TEST(ClosingTitle, KeepsTheTitleWhenNoneIsGenerated) {
  ClosingTitle closing = closing_of("How many lands?");
  closing.ask = bad;
  EXPECT_EQ(closing_title(closing), std::nullopt);
}

TEST(ClosingTitle, MarksAnInterruptedSession) {
  ClosingTitle closing = closing_of("");
  closing.interrupted = true;
  EXPECT_EQ(closing_title(closing), kInterruptedTitle);
  closing.title = "How many lands?";
  EXPECT_EQ(closing_title(closing), std::nullopt);
}

TEST(ClosingTitle, NeedsAPrompt) {
  ClosingTitle closing = closing_of("");
  closing.first_prompt = "";
  EXPECT_EQ(closing_title(closing), std::nullopt);
  closing.interrupted = true;
  EXPECT_EQ(closing_title(closing), std::nullopt);
}

}  // namespace
}  // namespace reprise
