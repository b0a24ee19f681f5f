#include "reprise/message.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "reprise/session.h"

namespace reprise {
namespace {

RawJson raw(std::string text) {
  return *RawJson::parse(std::move(text));
}

TEST(Blocks, ReadTheOriginalFormat) {
  const auto blocks = blocks_from_json(
      R"([{"type":"thinking","text":"a \u003c b"},{"type":"tool_use","id":"toolu_01","name":"file",)"
      R"("input":{"op":"read","n":1.0,"big":123456789012345678901234}}])");
  ASSERT_TRUE(blocks);
  const std::vector<Block> expected = {
      ThinkingBlock{"a < b", "", {}},
      ToolUseBlock{
          "toolu_01", "file", raw(R"({"op":"read","n":1.0,"big":123456789012345678901234})"), {}}};
  EXPECT_EQ(*blocks, expected);
  EXPECT_EQ(blocks_to_json(*blocks),
            R"([{"type":"thinking","text":"a < b"},{"type":"tool_use","id":"toolu_01",)"
            R"("name":"file","input":{"op":"read","n":1.0,"big":123456789012345678901234}}])");
}

TEST(Blocks, RoundTripByteForByte) {
  for (const char* json :
       {"[]", R"([{"type":"text","text":"Hello!"}])", R"([{"type":"text"}])",
        R"([{"type":"tool_result","text":"exit status 1","tool_use_id":"t2","is_error":true}])",
        R"([{"type":"tool_use","id":"t","name":"file.patch","input":"{\"path\":\"broken\""}])",
        R"([{"type":"text","text":"a","cache_control":{"type":"ephemeral","n":1.0}}])",
        R"([{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"x"}]}])",
        R"([{"type":"image","source":{"type":"base64","data":"aGk="}}])",
        R"([{"kind":"x","n":1e2}])", R"([17,null,"x"])", R"([{"type":7}])",
        R"([{"type":"text","text":5}])", R"([{"text":"last","n":2.0,"type":"odd"}])"}) {
    const auto blocks = blocks_from_json(json);
    ASSERT_TRUE(blocks) << json;
    EXPECT_EQ(blocks_to_json(*blocks), json);
  }
}

TEST(Blocks, PlainTextIsReadAsAnyOtherBlock) {
  const auto texts = [](std::string_view json) {
    std::vector<std::string> out;
    const auto blocks = blocks_from_json(json);
    for (const Block& block : *blocks) {
      out.push_back(std::get<TextBlock>(block).text);
    }
    return out;
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(texts(R"([{"type":"text","text":"a \\"},{"type":"text","text":"\"b\n"}])"),
            (Texts{"a \\", "\"b\n"}));
  EXPECT_EQ(texts(R"([ {"type":"text","text":"a" } , {"type":"text","text":"a","text":"b"}])"),
            (Texts{"a", "a"}))
      << "the first one is ours";
  EXPECT_EQ(texts(R"([{"type":"text","text":"a","type":"image"}])"), Texts{"a"});
}

TEST(Blocks, ExtraFieldsNeverReplaceOurs) {
  constexpr std::string_view kTwice =
      R"([{"type":"tool_use","id":"a","name":"n","input":{},"id":"b","x":1,"x":2}])";
  const std::vector<Block> blocks = *blocks_from_json(kTwice);
  EXPECT_EQ(std::get<ToolUseBlock>(blocks.at(0)).id, "a");
  EXPECT_EQ(
      blocks_to_json(blocks),
      R"([{"type":"tool_use","id":"a","name":"n","input":{},"x":1,"others":{"id":"b","x":2}}])");
  const Message message = *message_from_json(R"({"role":"user","model":"a","model":"b"})");
  EXPECT_EQ(message.model, "a");
  EXPECT_TRUE(message_to_json(message).contains(R"("others":{"model":"b"})"));
}

// Extra fields with the name of a member, in any order and with any value.
TEST(Blocks, WhatIsWrittenIsReadAsTheSame) {
  for (
      const char* json : {
          R"({"seq":"assistant","role":"user","z":1})",
          R"({"role":"user","z":1,"seq":"x","y":2,"z":3})",
          R"({"role":"user","author":5,"z":1,"author":6})",
          R"({"role":"user","others":{"model":"m","z":1},"y":2})",
          R"({"role":"user","model":"","model":"m","z":1})",
          R"({"role":"user","others":[1],"z":1,"others":{"others":2}})",
          R"({"role":"user","usage":{"seq":1,"others":[2],"input_tokens":"x","z":1}})",
          R"({"blocks":[{"type":"text","id":"a","text":"t","text":"u","z":1}]})",
          R"({"blocks":[{"type":"thinking","signature":"","signature":"s","z":1}]})",
          R"({"blocks":[{"type":"tool_use","input":null,"input":{"a":1},"z":1,"others":{"id":"b"}}]})",
      }) {
    const auto message = message_from_json(json);
    ASSERT_TRUE(message) << json;
    const std::string text = message_to_json(*message);
    const auto again = message_from_json(text);
    ASSERT_TRUE(again) << text;
    EXPECT_EQ(*again, *message) << text;
    EXPECT_EQ(message_to_json(*again), text);
  }
  const auto todos =
      todos_from_json(R"([{"status":"later","content":"a","status":"pending","z":1}])");
  ASSERT_TRUE(todos);
  EXPECT_EQ(*todos_from_json(todos_to_json(*todos)), *todos);
}

TEST(Blocks, NullAndPlainStringsAreRead) {
  EXPECT_EQ(*blocks_from_json("null"), std::vector<Block>{});
  EXPECT_EQ(*blocks_from_json(R"("hi")"), (std::vector<Block>{TextBlock{"hi", {}}}));
}

TEST(Blocks, DamageIsCorrupt) {
  for (const char* json :
       {"", "[", "{}", "[{]", R"([{"type":"text","text":"a)", R"([{"type":"text","text":"a",}])",
        R"([{"type":"text","text":"a"]})", "5", "[] x"}) {
    const auto blocks = blocks_from_json(json);
    ASSERT_FALSE(blocks) << json;
    EXPECT_EQ(blocks.error().code, Code::corrupt) << json;
  }
}

TEST(TextBlock, KeepsBytesThatAreNoUtf8) {
  const TextBlock block = text_block(
      "a\xff"
      "b");
  EXPECT_EQ(block.text, "a\uFFFDb");
  EXPECT_EQ(block.extra, (Extra{{"original_base64", raw(R"("Yf9i")")}}));
  EXPECT_EQ(text_block("plain"), (TextBlock{"plain", {}}));
}

Message full_message() {
  return {
      .seq = {7},
      .role = "assistant",
      .blocks = {TextBlock{"hi\n\"there\"", {}}, UnknownBlock{"x", raw(R"({"type":"x","n":1.0})")}},
      .created_at = *parse_time("2026-01-18T20:15:30.123456Z"),
      .provider = "anthropic",
      .model = "some-model",
      .response_id = "resp_1",
      .usage = Usage{.input = {10},
                     .output = {2},
                     .reasoning = {1},
                     .cached = {3},
                     .cost = Money{105'000},
                     .price_source = "provider",
                     .request_id = "req_1",
                     .extra = {{"tier", raw("\"x\"")}}},
      .state = MessageState::incomplete,
      .extra = {{"later", raw("{\"a\":1.0}")}},
  };
}

TEST(Message, RoundTrips) {
  const auto back = message_from_json(message_to_json(full_message()));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, full_message());
}

TEST(Message, TheFirstTypeOfABlockCounts) {
  for (const char* first : {"odd", "\x8codd", "\\u006fdd"}) {
    const auto message = message_from_json(
        cat(R"({"role":"user","blocks":[{"type":")", first, R"(","type":"text","text":"a"}]})"));
    ASSERT_TRUE(message) << message.error().message;
    EXPECT_TRUE(std::holds_alternative<UnknownBlock>(message->blocks.front())) << first;
    const auto again = message_from_json(message_to_json(*message));
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(*again, *message) << first;
  }
}

TEST(Message, FieldsOfAnotherTypeAreKept) {
  const auto message = message_from_json(R"({"role":"user","model":5,"state":"half","blocks":[]})");
  ASSERT_TRUE(message);
  EXPECT_EQ(message->extra, (Extra{{"model", raw("5")}, {"state", raw("\"half\"")}}));
}

TEST(Message, InvalidAuthorsArePreserved) {
  for (const char* json : {R"({"role":"user","author":"a\u001b[31m"})",
                           R"({"role":"user","author":5})", R"({"role":"user","author":""})"}) {
    const auto message = message_from_json(json);
    ASSERT_TRUE(message) << json;
    EXPECT_EQ(message->author, std::nullopt) << json;
    ASSERT_EQ(message->extra.size(), 1U) << json;
    EXPECT_EQ(message->extra.front().name, "author");
    EXPECT_EQ(message_from_json(message_to_json(*message)), *message) << json;
  }
}

TEST(Message, EveryTruncationFails) {
  const std::string whole = message_to_json(full_message());
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    EXPECT_FALSE(message_from_json(whole.substr(0, cut))) << cut;
  }
}

TEST(Message, PlainTextIsTextBlocksOnly) {
  Message message;
  message.blocks = {ThinkingBlock{"hm", "", {}}, TextBlock{"a", {}}, TextBlock{"b", {}}};
  EXPECT_EQ(plain_text(message), "a\n\nb");
}

TEST(Blocks, InvalidUtf8InTypesRoundTrips) {
  const auto blocks = blocks_from_json("[{\"type\":\"\x8c\x97ink\",\"a\":1}]");
  ASSERT_TRUE(blocks);
  const auto again = blocks_from_json(blocks_to_json(*blocks));
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, *blocks);
}

TEST(Usages, ShowCacheWritesIfAny) {
  Usage usage;
  usage.input.value = 10;
  EXPECT_EQ(usage_to_json(usage).find("cache_written"), std::string::npos);
  usage.cache_written.value = 7;
  const auto read = usage_from_json(usage_to_json(usage));
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, usage);
  EXPECT_TRUE(read->extra.empty());
}

TEST(Blocks, APdfIsADocument) {
  const std::string ours =
      R"([{"type":"document","media_type":"application/pdf","url":"https://x/a.pdf","name":"a"}])";
  const auto blocks = blocks_from_json(ours);
  ASSERT_TRUE(blocks);
  EXPECT_TRUE(std::holds_alternative<ImageBlock>(blocks->front()));
  EXPECT_EQ(blocks_to_json(*blocks), ours);
  for (const char* other :
       {R"([{"type":"document","source":{"type":"text","data":"x"}}])",
        R"([{"type":"document","media_type":"text/plain","url":"https://x/a.txt"}])",
        R"([{"type":"image","media_type":"application/pdf","url":"https://x/a.pdf"}])"}) {
    const auto read = blocks_from_json(other);
    ASSERT_TRUE(read);
    EXPECT_TRUE(std::holds_alternative<UnknownBlock>(read->front())) << other;
    EXPECT_EQ(blocks_to_json(*read), other);
  }
}

}  // namespace
}  // namespace reprise
