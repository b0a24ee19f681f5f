#include <gtest/gtest.h>

#include "engine/testing/fake_provider.h"
#include "engine/testing/messages.h"
#include "reprise/conversation.h"

namespace reprise {
namespace {

TEST(Title, FirstLineWithWords) {
  EXPECT_EQ(title_from_prompt("Hello"), "Hello");
  EXPECT_EQ(title_from_prompt("\n  \n ---\n  two\t words  \nmore"), "two words");
  EXPECT_EQ(title_from_prompt("a\x1b[31mred\x07"), "a [31mred");
  EXPECT_EQ(title_from_prompt(" ?!\n"), "");
  EXPECT_EQ(title_from_prompt(""), "");
  EXPECT_EQ(title_from_prompt("\xFFx"), "\xEF\xBF\xBDx");
}

TEST(Title, HasAtMostFiftyCharacters) {
  EXPECT_EQ(title_from_prompt(std::string(60, 'a')), std::string(50, 'a'));
  const std::string_view family = "👩‍👩‍👧";
  std::string families;
  for (int i = 0; i < 60; ++i) {
    families += family;
  }
  EXPECT_EQ(title_from_prompt(families), families.substr(0, 50 * family.size()));
}

TEST(Title, EndsWithAWholeWord) {
  const std::string word(25, 'a');
  const std::string second(24, 'b');
  EXPECT_EQ(title_from_prompt(word + " " + second + " more"), word + " " + second);
  EXPECT_EQ(title_from_prompt(word + " " + second + "b more"), word);
  EXPECT_EQ(title_from_prompt("short " + std::string(60, 'a')), "short " + std::string(44, 'a'));
}

TEST(Title, AskedFromTheModel) {
  FakeProvider provider;
  provider.add().text(" \"Mana base ").text("advice\"\n").ended();
  EXPECT_EQ(*ask_for_title(provider, "m", "How many lands?", "17"), "Mana base advice");
  EXPECT_EQ(provider.seen.at(0).model, "m");
  EXPECT_NE(spell(provider.seen.at(0).messages).find("How many lands?"), std::string::npos);
}

TEST(Title, AUselessAnswerIsAnError) {
  const std::string long_title(81, 'a');
  for (const std::string_view answer : {std::string_view(""), std::string_view("\"\""),
                                        std::string_view("a\nb"), std::string_view(long_title)}) {
    FakeProvider provider;
    provider.add().text(answer).ended();
    EXPECT_EQ(ask_for_title(provider, "m", "q", "a").error().code, Code::invalid_argument);
  }
  FakeProvider provider;
  provider.add().fails(Code::rate_limited);
  EXPECT_EQ(ask_for_title(provider, "m", "q", "a").error().code, Code::rate_limited);
}

TEST(Tokens, AsDocumented) {
  EXPECT_EQ(estimate_tokens(user("")).value, 4);
  EXPECT_EQ(estimate_tokens(user("abcde")).value, 6);
  EXPECT_EQ(estimate_tokens(user("é中a")).value, 7);
  EXPECT_EQ(estimate_tokens(assistant({call_of("id", R"({"a":1})", "tool")})).value, 4 + 3);
  EXPECT_EQ(estimate_tokens(assistant({ImageBlock{}, UnknownBlock{}})).value, 4 + 1000 + 1);
}

}  // namespace
}  // namespace reprise
