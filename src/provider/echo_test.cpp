#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "provider/testing/fixture.h"
#include "reprise/provider.h"

namespace reprise::provider {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

TEST(Echo, RepeatsTheLastUserMessageWordByWord) {
  ListMessages messages({make_message(role::kUser, "first"),
                         make_message(role::kAssistant, "first"),
                         make_message(role::kUser, "two  words\n and ünicode ")});
  Request request{.model = "m", .messages = messages};
  std::vector<std::string> pieces;
  EventLog log;
  const auto provider = make_echo_provider();
  ASSERT_TRUE(provider->stream(request,
                               [&](const StreamEvent& event) {
                                 log(event);
                                 if (const auto* text = std::get_if<TextDelta>(&event);
                                     text != nullptr) {
                                   pieces.emplace_back(text->text);
                                 }
                               },
                               {}));
  EXPECT_THAT(pieces, ElementsAre("two", "  words", "\n and", " ünicode", " "));
  EXPECT_THAT(log.lines(),
              ElementsAre("started : m", "text: two  words\n and ünicode ",
                          StartsWith(R"(usage {"input_tokens":9,"output_tokens":7,)"), "ended 0"));
}

TEST(Echo, ContinuesAnInterruptedAnswer) {
  Message cut = make_message(role::kAssistant, "one two");
  cut.state = MessageState::incomplete;
  ListMessages messages(
      {make_message(role::kUser, "one two three four"), cut, make_message(role::kUser, "go on")});
  Request request{.model = "m", .messages = messages};
  EventLog log;
  ASSERT_TRUE(
      make_echo_provider()->stream(request, [&](const StreamEvent& event) { log(event); }, {}));
  EXPECT_THAT(log.lines(), testing::Contains("text:  three four"));
}

TEST(Echo, StopsInAPause) {
  ListMessages messages({make_message(role::kUser, "one two")});
  Request request{.model = "m", .messages = messages};
  std::stop_source source;
  const auto provider = make_echo_provider(std::chrono::hours(1));
  const auto outcome = provider->stream(
      request,
      [&](const StreamEvent& event) {
        if (std::holds_alternative<TextDelta>(event)) {
          source.request_stop();
        }
      },
      source.get_token());
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::cancelled);
}

TEST(MakeProvider, KnowsTheNames) {
  for (const char* name : {"echo", "openai-responses", "openai-chat", "anthropic"}) {
    const auto provider = make_provider(name, {});
    ASSERT_TRUE(provider) << name;
    EXPECT_EQ((*provider)->name(), name);
    EXPECT_EQ((*provider)->stores_responses(), std::string_view(name) == "openai-responses");
  }
  const auto unknown = make_provider("gpt", {});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, Code::invalid_argument);
}

}  // namespace
}  // namespace reprise::provider
