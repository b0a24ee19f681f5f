#include "model/texts.h"

#include <gtest/gtest.h>

#include "base/encode.h"

namespace reprise::model {
namespace {

const std::string kBad = "a\xff\xfe z";
const std::string kMended = "a\xEF\xBF\xBD\xEF\xBF\xBD z";

TEST(Texts, AreMendedWithTheirBytesKept) {
  const ExtraField original{"original_base64", RawJson::string(base64_encode(kBad))};
  Message message{.role = "assistant",
                  .blocks = {TextBlock{kBad, {}}, ThinkingBlock{kBad, "s", {}},
                             ToolResultBlock{"t", kBad, false, {}, {}}, UnknownBlock{kBad, {}}},
                  .model = kBad};
  EXPECT_FALSE(check(message));
  EXPECT_TRUE(mend(message));
  EXPECT_TRUE(check(message)) << check(message).error().message;
  EXPECT_EQ(std::get<TextBlock>(message.blocks[0]), (TextBlock{kMended, {original}}));
  EXPECT_EQ(std::get<TextBlock>(message.blocks[0]), text_block(kBad)) << "as text_block() does";
  EXPECT_EQ(std::get<ThinkingBlock>(message.blocks[1]), (ThinkingBlock{kMended, "s", {original}}));
  EXPECT_EQ(std::get<ToolResultBlock>(message.blocks[2]).extra, Extra{original});
  EXPECT_EQ(message.model, kMended);
  EXPECT_EQ(message.extra, (Extra{{"model_base64", original.value}}));
  const Message mended = message;
  EXPECT_FALSE(mend(message));
  EXPECT_EQ(message, mended);
}

TEST(Texts, OfSessionsAreMendedExceptForTheirFolder) {
  Session session{.info = {.id = *SessionId::parse("s"), .title = kBad, .working_dir = "/caf\xe9"},
                  .system_prompt = "fine",
                  .prompt_history = {kBad}};
  EXPECT_FALSE(check(session));
  EXPECT_TRUE(mend(session));
  EXPECT_TRUE(check(session));
  EXPECT_EQ(session.info.title, kMended);
  EXPECT_EQ(session.info.working_dir, "/caf\xe9");
  EXPECT_EQ(session.prompt_history, std::vector<std::string>{kMended});
  EXPECT_EQ(session.extra.size(), 2U);
}

TEST(Texts, AMessageWithoutARoleGetsOne) {
  Message message;
  EXPECT_FALSE(check(message));
  EXPECT_TRUE(mend(message));
  EXPECT_EQ(message.role, kUnknownRole);
}

TEST(Texts, AFaultNamesItsPlace) {
  const Message good{.role = "user", .blocks = {TextBlock{"a", {}}}};
  const Message bad{.role = "user", .blocks = {TextBlock{"a", {}}, TextBlock{kBad, {}}}};
  EXPECT_EQ(check(bad).error().message, "blocks[1].text is not UTF-8 (from byte 1 on)");
  EXPECT_EQ(check(std::vector{good, bad}).error().message,
            "messages[1]: blocks[1].text is not UTF-8 (from byte 1 on)");
}

}  // namespace
}  // namespace reprise::model
