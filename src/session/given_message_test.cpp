#include "session/given_message.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "base/json_scan.h"
#include "base/text.h"
#include "model/json_fields.h"

namespace reprise::given_test {
namespace {

template <class T>
T must(Result<T> result) {
  if (!result) {
    throw std::runtime_error(result.error().message);
  }
  return *std::move(result);
}

const Time kNow = *parse_time("2026-01-18T20:15:30Z");

std::string refusal(std::string_view json) {
  const auto given = message_given(json, kNow);
  if (given) {
    return "";
  }
  EXPECT_EQ(given.error().code, Code::invalid_argument);
  return given.error().message;
}

TEST(GivenMessage, IsTheFormOfOutput) {
  const std::string form =
      R"({"seq":3,"role":"assistant","state":"incomplete","created_at":"2025-01-01T00:00:00Z",)"
      R"("provider":"p","model":"m","response_id":"r","usage":{"input_tokens":1,"output_tokens":2,)"
      R"("reasoning_tokens":0,"cached_tokens":0,"cost":0.5,"request_id":"q"},"blocks":[)"
      R"({"type":"thinking","text":"hm","signature":"s"},{"type":"text","text":"ü","own":1.0},)"
      R"({"type":"tool_use","id":"c","name":"f","input":{"a":1e2}},)"
      R"({"type":"tool_result","tool_use_id":"c","text":"t","is_error":true},)"
      R"({"type":"image","media_type":"image/png","url":"https://x/y.png"},{"type":"new","x":[1]}],)"
      R"("injected":true,"others":{"mine":{"n":1}}})";
  const Message message = must(message_given(form, kNow));
  EXPECT_EQ(message.seq, Seq{});
  EXPECT_EQ(message.role, "assistant");
  EXPECT_EQ(message.state, MessageState::incomplete);
  EXPECT_EQ(message.usage->input.value, 1);
  EXPECT_EQ(message.blocks.size(), 6U);
  EXPECT_EQ(blocks_to_json({message.blocks[1]}), R"([{"type":"text","text":"ü","own":1.0}])");
  EXPECT_EQ(json::find_field(message.extra, "mine")->text(), R"({"n":1})");
  EXPECT_TRUE(is_injected(message));
  // What is printed can be given again.
  std::string printed;
  model::append_json(
      printed,
      must(message_given(R"({"role":"user","blocks":[{"type":"text","text":"x"}]})", kNow)),
      model::JsonForm::output);
  EXPECT_EQ(refusal(printed), "");
}

TEST(GivenMessage, WithoutATimeIsOfNow) {
  const auto time_of = [](std::string_view more) {
    return must(message_given(cat(R"({"role":"user","blocks":[])", more, "}"), kNow)).created_at;
  };
  EXPECT_EQ(time_of(""), kNow);
  EXPECT_EQ(time_of(R"(,"created_at":null)"), Time{});
}

TEST(GivenMessage, WithAMistakeIsRefusedWithItsName) {
  const std::string text = R"("blocks":[{"type":"text","text":"x"}])";
  const std::pair<std::string, std::string_view> faults[] = {
      {"", "not valid JSON"},
      {"[]", "must be an object"},
      {R"("hello")", "must be an object"},
      {R"({"role":"user","blocks":[)", "unexpected end"},
      {R"({"role":"user","blocks":[{"type":"text","text":"x"}]} x)", "after the value"},
      {R"({"blocks":[]})", "'role'"},
      {R"({"role":"user"})", "'blocks'"},
      {cat(R"({"role":"robot",)", text, "}"), "robot"},
      {cat(R"({"role":7,)", text, "}"), "'role'"},
      {cat(R"({"role":"user","role":"user",)", text, "}"), "'role'"},
      {cat(R"({"role":"user","contents":1,)", text, "}"), "'contents'"},
      {cat(R"({"role":"user","stat":"complete",)", text, "}"), "did you mean 'state'"},
      {cat(R"({"role":"user","state":"done",)", text, "}"), "'state'"},
      {cat(R"({"role":"user","created_at":"yesterday",)", text, "}"), "'created_at'"},
      {cat(R"({"role":"user","created_at":5,)", text, "}"), "'created_at'"},
      {cat(R"({"role":"user","author":"",)", text, "}"), "'author'"},
      {cat(R"({"role":"user","model":null,)", text, "}"), "'model'"},
      {cat(R"({"role":"user","usage":[],)", text, "}"), "'usage'"},
      {cat(R"({"role":"user","usage":{"input_tokens":"1"},)", text, "}"), "'input_tokens'"},
      {cat(R"({"role":"user","usage":{"input_tokens":-1},)", text, "}"), "negative"},
      {cat(R"({"role":"user","injected":"yes",)", text, "}"), "'injected'"},
      {cat(R"({"role":"user","others":[],)", text, "}"), "'others'"},
      {R"({"role":"user","blocks":"x"})", "array of blocks"},
      {R"({"role":"user","blocks":null})", "array of blocks"},
      {R"({"role":"user","blocks":{}})", "array of blocks"},
      {R"({"role":"user","blocks":["x"]})", "block 0"},
      {R"({"role":"user","blocks":[{"text":"x"}]})", "'type'"},
      {R"({"role":"user","blocks":[{"type":""}]})", "'type'"},
      {R"({"role":"user","blocks":[{"type":"new"},{"type":"text"}]})", "block 1: a text block"},
      {R"({"role":"user","blocks":[{"type":"text","text":1}]})", "must be a string"},
      {R"({"role":"user","blocks":[{"type":"text","text":"a","text":"b"}]})", "stands twice"},
      {R"({"role":"user","blocks":[{"type":"thinking","text":"","signature":1}]})", "'signature'"},
      {R"({"role":"user","blocks":[{"type":"tool_use","id":"c","name":"f"}]})", "'input'"},
      {R"({"role":"user","blocks":[{"type":"tool_result","text":"t"}]})", "'tool_use_id'"},
      {R"({"role":"user","blocks":[{"type":"tool_result","tool_use_id":"c","content":"t"}]})",
       "'text'"},
      {R"({"role":"user","blocks":[{"type":"tool_result","tool_use_id":"c","text":"","is_error":1}]})",
       "true or false"},
      {R"({"role":"user","blocks":[{"type":"tool_result","tool_use_id":"c","text":"","blob":"ab"}]})",
       "'blob'"},
      {R"({"role":"user","blocks":[{"type":"image","media_type":"image/png"}]})", "'url'"},
      {R"({"role":"user","blocks":[{"type":"document","media_type":"image/png","url":"u"}]})",
       "application/pdf"},
      {R"({"role":"user","blocks":[{"type":"text","text":"\ud800"}]})", "surrogate"},
      {cat(R"({"role":"user",)", text, R"(,"others":{"x":)", std::string(600, '['), "}}"),
       "nested too deeply"},
  };
  for (const auto& [json, expected] : faults) {
    EXPECT_NE(refusal(json).find(expected), std::string::npos) << json << "\n" << refusal(json);
  }
}

TEST(GivenMessage, TakesNoObjectWithCountlessMembers) {
  std::string many;
  for (int i = 0; i < 20'000; ++i) {
    many += cat(",\"m", i, "\":1");
  }
  EXPECT_NE(refusal(cat(R"({"role":"user","blocks":[{"type":"text","text":"x")", many, "}]}")), "");
  EXPECT_NE(refusal(cat(R"({"role":"user","blocks":[],"others":{"a":1)", many, "}}")), "");
  EXPECT_NE(refusal(cat(R"({"role":"user","blocks":[],"usage":{"a":1)", many, "}}")), "");
}

TEST(GivenMessages, AreOneAfterTheOther) {
  const auto given =
      must(messages_given("\n{\"role\":\"user\",\"blocks\":[]}\r\n"
                          "{\"role\":\n\"tool\",\"blocks\":[]}{\"role\":"
                          "\"system\",\"blocks\":[]}\n\n",
                          kNow));
  ASSERT_EQ(given.size(), 3U);
  EXPECT_EQ(given[1].role, "tool");
  EXPECT_TRUE(must(messages_given(" \n", kNow)).empty());
}

TEST(GivenMessages, NameTheLineOfAMistake) {
  const std::string good = "{\"role\":\"user\",\"blocks\":[]}\n";
  const std::pair<std::string, std::string_view> faults[] = {
      {cat(good, good, "{\"role\":\"us"), "line 3: "},
      {cat(good, "{\"role\":\"us\n", good), "line 2: "},
      {cat(good, "\n\n{\"role\":\"robot\",\"blocks\":[]}\n", good), "line 4: "},
      {cat(good, "x\n"), "line 2: "},
      {cat(good, good, "{\"role\":\"\xff\"}"), "line 3: "},
      {cat(good, "{\"role\":\"user\",\n\"blocks\":[,]}"), "line 3: "},
      {cat(good, std::string(1, '\0')), "line 2: "},
  };
  for (const auto& [text, expected] : faults) {
    const auto given = messages_given(text, kNow);
    ASSERT_FALSE(given) << text;
    EXPECT_TRUE(given.error().message.starts_with(expected)) << text << given.error().message;
  }
}

TEST(GivenText, IsTakenAsItIs) {
  EXPECT_EQ(plain_text(must(text_given("tool", " a\n", kNow))), " a\n");
  EXPECT_FALSE(text_given("user", " \n", kNow));
  EXPECT_FALSE(text_given("robot", "a", kNow));
  EXPECT_NE(text_given("user", "a\n\xff", kNow).error().message.find("line 2"), std::string::npos);
}

}  // namespace
}  // namespace reprise::given_test
