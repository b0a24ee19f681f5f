#include "provider/request_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "provider/codec.h"
#include "provider/request_body.h"
#include "provider/testing/fixture.h"

namespace reprise::provider {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string body_of(const Codec& codec, RequestOptions options, std::vector<ToolSpec> tools = {},
                    const RawJson& extra = {}) {
  ListMessages messages({make_message(role::kUser, "Hi")});
  Request request{.model = "m",
                  .tools = std::move(tools),
                  .options = std::move(options),
                  .conversation = "conv-1",
                  .messages = messages};
  auto body = render_body(codec, request, extra);
  return body ? *body : body.error().message;
}

const std::vector<ToolSpec>& one_tool() {
  static const std::vector<ToolSpec> kTools = {{"f", "does f", json_of(R"({"type":"object"})")}};
  return kTools;
}

RequestOptions every_common_option() {
  return {.effort = "high",
          .schema = json_of(R"({"type":"object","title":"%"})"),
          .top_p = 0.25,
          .service_tier = "flex",
          .tool_choice = "f"};
}

TEST(RequestOptions, AreWrittenForChat) {
  RequestOptions options = every_common_option();
  options.stop = {"END", "\n"};
  options.seed = -7;
  options.prompt_cache_key = "k";
  EXPECT_EQ(
      body_of(*make_openai_chat("http://h/v1"), options, one_tool()),
      R"({"model":"m","stream":true,"stream_options":{"include_usage":true},)"
      R"("tools":[{"type":"function","function":{"name":"f","description":"does f",)"
      R"("parameters":{"type":"object"}}}],"reasoning_effort":"high",)"
      R"("response_format":{"type":"json_schema","json_schema":{"name":"answer",)"
      R"("schema":{"type":"object","title":"%"},"strict":true}},"stop":["END","\n"],"top_p":0.25,)"
      R"("seed":-7,"service_tier":"flex",)"
      R"("tool_choice":{"type":"function","function":{"name":"f"}},"prompt_cache_key":"k",)"
      R"("messages":[{"role":"user","content":"Hi"}]})");
}

TEST(RequestOptions, AreWrittenForResponses) {
  RequestOptions options = every_common_option();
  options.reasoning_summary = "auto";
  options.prompt_cache_key = "k";
  EXPECT_THAT(body_of(*make_openai_responses(), options, one_tool()),
              HasSubstr(R"("reasoning":{"summary":"auto","effort":"high"},"text":{"format":)"
                        R"({"type":"json_schema","name":"answer",)"
                        R"("schema":{"type":"object","title":"%"},"strict":true}},"top_p":0.25,)"
                        R"("service_tier":"flex","tool_choice":{"type":"function","name":"f"},)"
                        R"("prompt_cache_key":"k","input":[)"));
}

TEST(RequestOptions, AreWrittenForAnthropic) {
  RequestOptions options = every_common_option();
  options.stop = {"END"};
  options.reasoning_summary = "concise";
  EXPECT_EQ(
      body_of(*make_anthropic(), options, one_tool()),
      R"({"model":"m","max_tokens":4096,"stream":true,)"
      R"("tools":[{"name":"f","description":"does f","input_schema":{"type":"object"}}],)"
      R"("thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"high",)"
      R"("format":{"type":"json_schema","schema":{"type":"object","title":"%"}}},)"
      R"("stop_sequences":["END"],"top_p":0.25,"service_tier":"flex",)"
      R"("tool_choice":{"type":"tool","name":"f"},)"
      R"("messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]}]})");
}

TEST(RequestOptions, AnthropicThinksWithinABudgetWhenOneIsSet) {
  EXPECT_THAT(body_of(*make_anthropic(), {.effort = "low", .thinking_budget = 2048}),
              HasSubstr(R"("thinking":{"type":"enabled","budget_tokens":2048},)"
                        R"("output_config":{"effort":"low"})"));
  EXPECT_THAT(body_of(*make_anthropic(), {.effort = "none"}),
              HasSubstr(R"("thinking":{"type":"disabled"},"messages")"));
  EXPECT_THAT(body_of(*make_anthropic(), {.effort = "minimal"}),
              HasSubstr(R"("output_config":{"effort":"low"})"));
}

TEST(RequestOptions, ToolChoiceIsTranslated) {
  const auto chosen = [](const Codec& codec, const char* choice) {
    return body_of(codec, {.tool_choice = choice}, one_tool());
  };
  EXPECT_THAT(chosen(*make_anthropic(), "required"), HasSubstr(R"("tool_choice":{"type":"any"})"));
  EXPECT_THAT(chosen(*make_anthropic(), "none"), HasSubstr(R"("tool_choice":{"type":"none"})"));
  EXPECT_THAT(chosen(*make_openai_chat(""), "required"), HasSubstr(R"("tool_choice":"required")"));
  EXPECT_THAT(chosen(*make_openai_responses(), "none"), HasSubstr(R"("tool_choice":"none")"));
  EXPECT_EQ(body_of(*make_openai_chat(""), {.tool_choice = "f"}),
            "tool_choice is f, but the request offers no tools");
  EXPECT_THAT(body_of(*make_openai_chat(""), {.tool_choice = "auto"}),
              Not(HasSubstr("tool_choice")));
}

TEST(RequestOptions, UnsupportedOptionsAreAnError) {
  EXPECT_EQ(body_of(*make_anthropic(), {.seed = 1}), "anthropic has no field for seed");
  EXPECT_EQ(body_of(*make_anthropic(), {.prompt_cache_key = "k"}),
            "anthropic has no field for prompt_cache_key");
  EXPECT_EQ(body_of(*make_openai_responses(), {.stop = {"x"}}),
            "openai-responses has no field for stop");
  EXPECT_EQ(body_of(*make_openai_chat(""), {.reasoning_summary = "auto"}),
            "openai-chat has no field for reasoning_summary");
  EXPECT_EQ(body_of(*make_openai_chat(""), {.thinking_budget = 1024}),
            "openai-chat has no field for thinking_budget");
}

TEST(RequestOptions, ExtraMembersAreMergedAndOverride) {
  const auto extra =
      json_of(R"({"temperature":1,"stream_options":{"include_obfuscation":false},"new":[1],)"
              R"("response_format":{"json_schema":{"strict":false}},"model":"other"})");
  EXPECT_EQ(body_of(*make_openai_chat("http://h/v1"), {.schema = json_of("{}")}, {}, extra),
            R"({"model":"other","stream":true,)"
            R"("stream_options":{"include_usage":true,"include_obfuscation":false},)"
            R"("response_format":{"type":"json_schema","json_schema":{"name":"answer",)"
            R"("schema":{},"strict":false}},"temperature":1,"new":[1],)"
            R"("messages":[{"role":"user","content":"Hi"}]})");
}

TEST(RequestOptions, ExtraToolsReplaceTheOthers) {
  const auto extra = json_of(R"({"tools":[{"type":"web_search_20250305","name":"web_search"}]})");
  ListMessages messages({
      make_message(role::kUser, "look"),
      make_message(role::kAssistant, {ToolUseBlock{"c1", "patch", RawJson(), {}}}),
      make_message(role::kUser, {ToolResultBlock{"c1", "r", false, {}, {}}}),
  });
  Request request{.model = "m", .messages = messages};
  const std::string body = *render_body(*make_anthropic(), request, extra);
  EXPECT_EQ(body.find(R"("tools":)"), body.rfind(R"("tools":)"));
  EXPECT_THAT(body, HasSubstr("web_search_20250305"));
}

TEST(RequestOptions, AnthropicMarksThePrefixOfTheNextRequest) {
  ListMessages messages({make_message(role::kUser, "one"), make_message(role::kAssistant, "two"),
                         make_message(role::kUser, "three")});
  Request request{.model = "m",
                  .system = "S",
                  .tools = {one_tool().front(), {"g", "", json_of("{}")}},
                  .options = {.prompt_cache = true},
                  .messages = messages};
  EXPECT_EQ(
      *render_body(*make_anthropic(), request),
      R"({"model":"m","max_tokens":4096,"stream":true,)"
      R"("system":[{"type":"text","text":"S","cache_control":{"type":"ephemeral"}}],)"
      R"("tools":[{"name":"f","description":"does f","input_schema":{"type":"object"}},)"
      R"({"name":"g","description":"","input_schema":{},"cache_control":{"type":"ephemeral"}}],)"
      R"("messages":[{"role":"user","content":[{"type":"text","text":"one"}]},)"
      R"({"role":"assistant","content":[{"type":"text","text":"two"}]},)"
      R"({"role":"user","content":[{"type":"text","text":"three",)"
      R"("cache_control":{"type":"ephemeral"}}]}]})");
  request.grows = false;
  EXPECT_THAT(*render_body(*make_anthropic(), request),
              HasSubstr(R"([{"type":"text","text":"three"}])"));
  request.options.prompt_cache = false;
  EXPECT_THAT(*render_body(*make_anthropic(), request), Not(HasSubstr("cache_control")));
}

TEST(RequestOptions, AContinuedAnswerIsNotMarked) {
  ListMessages messages({make_message(role::kUser, "one"), make_message(role::kAssistant, "two")});
  Request request{.model = "m", .options = {.prompt_cache = true}, .messages = messages};
  EXPECT_THAT(*render_body(*make_anthropic(), request), Not(HasSubstr("cache_control")));
}

TEST(RequestOptions, TheConversationIsTheCacheKey) {
  for (const auto& codec : {make_openai_chat(""), make_openai_responses()}) {
    EXPECT_THAT(body_of(*codec, {.prompt_cache = true}),
                HasSubstr(R"("prompt_cache_key":"conv-1")"));
    EXPECT_THAT(body_of(*codec, {.prompt_cache = true, .prompt_cache_key = "own"}),
                HasSubstr(R"("prompt_cache_key":"own")"));
    EXPECT_THAT(body_of(*codec, {}), Not(HasSubstr("prompt_cache_key")));
  }
}

std::string body_with(const Codec& codec, ImageBlock file) {
  ListMessages messages({make_message(role::kUser, {std::move(file)})});
  Request request{.model = "m", .messages = messages};
  return *render_body(codec, request);
}

TEST(Documents, AreWrittenInEveryProtocol) {
  const ImageBlock bytes{
      "application/pdf", {}, "data:application/pdf;base64,QUJD", {{"name", json_of(R"("a.pdf")")}}};
  const ImageBlock url{"application/pdf", {}, "https://x.test/a.pdf", {}};
  EXPECT_THAT(body_with(*make_anthropic(), bytes),
              HasSubstr(R"([{"type":"document","source":{"type":"base64",)"
                        R"("media_type":"application/pdf","data":"QUJD"}}])"));
  EXPECT_THAT(body_with(*make_anthropic(), url),
              HasSubstr(R"([{"type":"document","source":{"type":"url",)"
                        R"("url":"https://x.test/a.pdf"}}])"));
  EXPECT_THAT(body_with(*make_openai_responses(), bytes),
              HasSubstr(R"([{"type":"input_file","filename":"a.pdf",)"
                        R"("file_data":"data:application/pdf;base64,QUJD"}])"));
  EXPECT_THAT(body_with(*make_openai_responses(), url),
              HasSubstr(R"([{"type":"input_file","file_url":"https://x.test/a.pdf"}])"));
  EXPECT_THAT(body_with(*make_openai_chat(""), bytes),
              HasSubstr(R"([{"type":"file","file":{"filename":"a.pdf",)"
                        R"("file_data":"data:application/pdf;base64,QUJD"}}])"));
  EXPECT_THAT(body_with(*make_openai_chat(""), url),
              HasSubstr(R"x([{"type":"text","text":"(a document at https://x.test/a.pdf)"}])x"));
}

TEST(RequestOptions, AreParsedFromText) {
  RequestOptions options;
  for (const auto& [name, value] : {std::pair("effort", "xhigh"),
                                    {"top_p", "0.5"},
                                    {"seed", "42"},
                                    {"stop", R"(["a","b"])"},
                                    {"prompt_cache", "false"},
                                    {"schema", "{}"}}) {
    EXPECT_TRUE(set_option(options, name, value)) << name;
  }
  EXPECT_EQ(options, (RequestOptions{.effort = "xhigh",
                                     .schema = json_of("{}"),
                                     .stop = {"a", "b"},
                                     .top_p = 0.5,
                                     .seed = 42,
                                     .prompt_cache = false}));
  EXPECT_TRUE(set_option(options, "stop", "END"));
  EXPECT_EQ(options.stop, std::vector<std::string>{"END"});
  for (const auto& [name, value, message] :
       {std::tuple(
            "effort", "much",
            "effort must be one of none, minimal, low, medium, high, xhigh, max, not 'much'"),
        {"seed", "1.5", "seed must be a whole number, not '1.5'"},
        {"top_p", "nan", "top_p must be a number from 0 to 1, not 'nan'"},
        {"prompt_cache", "yes", "prompt_cache must be true or false, not 'yes'"},
        {"stop", "[1]", "stop must be a string or a JSON array of strings, not '[1]'"},
        {"stop", "", "stop must be a string, not ''"},
        {"schema", "[]", "schema must be a JSON object, not '[]'"},
        {"sedd", "1", "unknown option 'sedd'"}}) {
    const auto taken = set_option(options, name, value);
    ASSERT_FALSE(taken) << name;
    EXPECT_EQ(taken.error().message, message);
  }
}

TEST(RequestOptions, LaterOnesAreLaidOver) {
  RequestOptions options{.effort = "low", .stop = {"a"}, .seed = 1};
  overlay(options, {.effort = "high", .prompt_cache = false});
  EXPECT_EQ(options,
            (RequestOptions{.effort = "high", .stop = {"a"}, .seed = 1, .prompt_cache = false}));
}

}  // namespace
}  // namespace reprise::provider
