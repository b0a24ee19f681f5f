// The three providers against the test server, over real connections.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <stop_token>
#include <thread>

#include "base/text.h"
#include "e2e/talk.h"
#include "fake_provider/answer.h"
#include "fake_provider/fake_provider.h"
#include "reprise/provider.h"

namespace reprise::e2e {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kHello = "answer 1 to: hello ✓ żółć 漢字 🙂";
constexpr std::string_view kKey = "sk-secret-1234567890";

class ProvidersE2e : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { start({}); }

  void start(ProviderOptions options) {
    server_ = *fake::FakeProvider::start({.port = 0, .key = std::string(kKey), .seed = 1});
    options.base_url = cat(server_->url(), "/v1");
    if (options.api_key.empty()) {
      options.api_key = kKey;
    }
    provider_ = *make_provider(GetParam(), std::move(options));
  }
  bool is(std::string_view name) const { return name == GetParam(); }

  Reply say(std::string_view model, std::string_view text = "hello") {
    return conversation(*provider_, {.messages = {user(text)}, .model = std::string(model)});
  }
  // No request may violate the protocol.
  void TearDown() override { EXPECT_EQ(server_->violations(), std::vector<std::string>{}); }

  static std::vector<ToolSpec> tools() {
    return {{"look", "Looks.", *RawJson::parse(R"({"type":"object","properties":{}})")}};
  }
  // The answer with its calls, and results for all of them.
  static std::vector<Message> with_results(std::string_view question, const Reply& reply) {
    std::vector<Block> results;
    for (const ToolUseBlock& call : reply.calls()) {
      ToolResultBlock result;
      result.tool_use_id = call.id;
      result.text = cat("result of ", call.input.text());
      results.emplace_back(std::move(result));
    }
    Message answer = message(role::kAssistant, reply.blocks);
    answer.provider = GetParam();
    return {user(question), std::move(answer), message(role::kUser, std::move(results))};
  }

  std::unique_ptr<fake::FakeProvider> server_;
  std::unique_ptr<Provider> provider_;
};

TEST_P(ProvidersE2e, StreamsAnAnswer) {
  const Reply reply = say("m");
  ASSERT_TRUE(reply.result) << reply.result.error().message;
  EXPECT_EQ(reply.text(), kHello);
  EXPECT_EQ(reply.blocks.size(), 1U);
  EXPECT_EQ(reply.ended, StopReason::end);
  EXPECT_EQ(reply.model, "m");
  EXPECT_FALSE(reply.response_id.empty());
  ASSERT_TRUE(reply.usage);
  EXPECT_GT(reply.usage->input.value, 0);
  EXPECT_GT(reply.usage->output.value, 0);
  EXPECT_FALSE(reply.usage->request_id.empty());
}

TEST_P(ProvidersE2e, TakesAnAnswerInOnePiece) {
  const Reply reply = conversation(
      *provider_, {.messages = {user("think hello")}, .system = "be brief", .stream = false});
  ASSERT_TRUE(reply.result) << reply.result.error().message;
  EXPECT_TRUE(reply.text().ends_with(" to: think hello ✓ żółć 漢字 🙂")) << reply.text();
  EXPECT_EQ(reply.ended, StopReason::end);
  EXPECT_TRUE(reply.usage);
}

// Each thread gets its own answers, whatever the others do with the provider.
TEST_P(ProvidersE2e, ServesManyThreads) {
  constexpr int kThreads = 6;
  constexpr int kRounds = 8;
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([this, thread] {
      for (int round = 0; round < kRounds; ++round) {
        const std::string question = cat("hello ", thread, " ", round);
        const Reply reply = conversation(
            *provider_, {.messages = {user(question)}, .model = "m", .stream = round % 2 == 0});
        EXPECT_TRUE(reply.result) << reply.result.error().message;
        EXPECT_TRUE(reply.text().ends_with(cat(" to: ", question, " ✓ żółć 漢字 🙂")))
            << reply.text();
        if (thread == 0) {
          EXPECT_TRUE(provider_->models(std::chrono::seconds(30), {}));
        }
        if (thread == 1) {
          std::stop_source stopped;
          stopped.request_stop();
          EXPECT_FALSE(conversation(*provider_, {.messages = {user(question)}, .model = "m"},
                                    stopped.get_token())
                           .result);
        }
      }
    });
  }
}

// Thinking, a text, two calls; then all of it is sent back with the results.
TEST_P(ProvidersE2e, CallsToolsAndSendsTheResults) {
  const std::string question = R"(think preface call:look {"a":1.0,"ä":"漢"} call:look {})";
  for (const bool stream : {true, false}) {
    const Reply reply = conversation(
        *provider_,
        {.messages = {user(question)}, .tools = tools(), .system = "s", .stream = stream});
    ASSERT_TRUE(reply.result) << reply.result.error().message;
    EXPECT_EQ(reply.ended, StopReason::tool_use);
    EXPECT_EQ(reply.text(), "let me look ✓ żółć 漢字 🙂");
    const auto calls = reply.calls();
    ASSERT_EQ(calls.size(), 2U);
    EXPECT_EQ(calls[0].name, "look");
    EXPECT_EQ(calls[0].input.text(), R"({"a":1.0,"ä":"漢"})");
    EXPECT_EQ(calls[1].input.text(), "{}");

    const Reply last = conversation(*provider_, {.messages = with_results(question, reply),
                                                 .tools = tools(),
                                                 .system = "s",
                                                 .stream = stream});
    ASSERT_TRUE(last.result) << last.result.error().message;
    EXPECT_NE(last.text().find(cat("after 2 results (",
                                   fake::fingerprint(cat("result of ", calls[0].input.text())))),
              std::string::npos)
        << last.text();
  }
}

TEST_P(ProvidersE2e, HandsTheThinkingOn) {
  const Reply reply = say("m", "think");
  ASSERT_TRUE(reply.result);
  EXPECT_TRUE(reply.thinking().starts_with("thinking about 1: think")) << reply.thinking();
  EXPECT_TRUE(reply.text().starts_with("answer 1"));
}

// Only for providers that store their responses.
class ResponsesE2e : public ProvidersE2e {};

TEST_P(ResponsesE2e, ContinuesFromAResponse) {
  start({.store = true});
  const Reply first =
      conversation(*provider_, {.messages = {user("call:look {} call:look {}")}, .tools = tools()});
  ASSERT_TRUE(first.result);
  auto results = with_results("", first);
  results.erase(results.begin(), results.begin() + 2);
  const Reply second = conversation(
      *provider_,
      {.messages = results, .tools = tools(), .previous_response_id = first.response_id});
  ASSERT_TRUE(second.result) << second.result.error().message;
  EXPECT_TRUE(second.text().starts_with("answer 5 after 2 results")) << second.text();
  const Reply lost = conversation(*provider_, {.messages = {user("x")},
                                               .model = "fake:expired",
                                               .previous_response_id = second.response_id});
  ASSERT_FALSE(lost.result);
  EXPECT_EQ(lost.result.error().code, Code::expired);
  EXPECT_TRUE(lost.retries.empty());
}

// The same answer for all spellings of the stream and divisions into packets.
TEST_P(ProvidersE2e, ReadsEverySpellingOfAStream) {
  for (const std::string_view model :
       {"fake:crlf", "fake:comments", "fake:drip=1", "fake:crlf,comments,drip=3", "fake:slow=1",
        "fake:until_close", "fake:plain", "fake:no_done,tag=x"}) {
    if (model.starts_with("fake:no_done") && is("openai-responses")) {
      continue;  // its last event is the answer itself
    }
    const Reply reply = say(model);
    ASSERT_TRUE(reply.result) << model << ": " << reply.result.error().message;
    EXPECT_EQ(reply.text(), kHello) << model;
    EXPECT_EQ(reply.ended, StopReason::end) << model;
    EXPECT_TRUE(reply.retries.empty()) << model;
  }
}

TEST_P(ProvidersE2e, TakesHugeDeltasAndLongAnswers) {
  const Reply huge = say("fake:huge=2000000");
  ASSERT_TRUE(huge.result) << huge.result.error().message;
  EXPECT_EQ(huge.text().size(), 2000000U);
  const Reply words = say("m", "long:5000");
  ASSERT_TRUE(words.result) << words.result.error().message;
  EXPECT_TRUE(words.text().ends_with("word4999 wörd5000"));
}

// After the first word, there is no retry, and the received text is preserved.
TEST_P(ProvidersE2e, KeepsWhatCameBeforeACut) {
  for (const std::string_view model : {"fake:cut=3", "fake:cut_char=3", "fake:cut=3,until_close",
                                       "fake:cut=3,crlf", "fake:overloaded=3", "fake:no_end"}) {
    const auto before = server_->request_count();
    const Reply reply = say(model);
    ASSERT_FALSE(reply.result) << model;
    EXPECT_EQ(reply.result.error().code, Code::io) << reply.result.error().message;
    EXPECT_FALSE(reply.ended) << model;
    EXPECT_GE(reply.text().size(), 15U) << model;
    EXPECT_TRUE(kHello.starts_with(reply.text())) << reply.text();
    EXPECT_TRUE(reply.retries.empty()) << model;
    EXPECT_EQ(server_->request_count(), before + 1) << model;
  }
}

TEST_P(ProvidersE2e, TriesAgainBeforeTheFirstWord) {
  for (const std::string_view model :
       {"fake:429=0,first=1", "fake:500,first=1", "fake:529,first=1", "fake:html,first=1",
        "fake:drop,first=1", "fake:overloaded=0,first=1", "fake:cut=0,first=1"}) {
    const auto before = server_->request_count();
    const Reply reply = say(model);
    ASSERT_TRUE(reply.result) << model << ": " << reply.result.error().message;
    EXPECT_EQ(reply.text(), kHello) << model;
    EXPECT_EQ(server_->request_count(), before + 2) << model;
    // A kept connection that is found closed is replaced without a pause.
    EXPECT_TRUE(reply.retries.size() == 1 || model.starts_with("fake:drop")) << model;
  }
}

TEST_P(ProvidersE2e, WaitsAsLongAsTheServerAsks) {
  const auto begin = std::chrono::steady_clock::now();
  const Reply reply = say("fake:429=1,first=1");
  ASSERT_TRUE(reply.result) << reply.result.error().message;
  ASSERT_EQ(reply.retries.size(), 1U);
  EXPECT_EQ(reply.retries[0].error.code, Code::rate_limited);
  EXPECT_EQ(reply.retries[0].pause, milliseconds(1000));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(1000));
}

TEST_P(ProvidersE2e, GivesUpWithTheReason) {
  start({.retries_max = 1});
  const std::vector<std::pair<std::string_view, Code>> cases = {
      {"fake:429", Code::rate_limited},
      {"fake:500", Code::io},
      {"fake:html", Code::io},
      {"fake:drop", Code::io},
      {"fake:garbage", Code::io},
      {"fake:400", Code::invalid_argument},
      {"fake:404", Code::invalid_argument},
      {"fake:echo_key", Code::unauthorized}};
  for (const auto& [model, code] : cases) {
    const Reply reply = say(model);
    ASSERT_FALSE(reply.result) << model;
    EXPECT_EQ(reply.result.error().code, code) << model << ": " << reply.result.error().message;
    EXPECT_FALSE(reply.ended) << model;
    const std::string& message = reply.result.error().message;
    EXPECT_EQ(message.find(kKey), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_EQ(message.find('<'), std::string::npos) << message;
  }
}

TEST_P(ProvidersE2e, RefusedKeysAreNotTriedAgain) {
  start({.api_key = "sk-wrong"});
  const Reply reply = say("m");
  ASSERT_FALSE(reply.result);
  EXPECT_EQ(reply.result.error().code, Code::unauthorized);
  EXPECT_EQ(server_->request_count(), 1);
}

// The timeout is long enough for a busy machine.
TEST_P(ProvidersE2e, EndsAConnectionThatSaysNothing) {
  start({.idle_timeout = milliseconds(2000)});
  for (const std::string_view model : {"fake:silent", "fake:hang=3"}) {
    const Reply reply = say(model);
    ASSERT_FALSE(reply.result) << model;
    EXPECT_EQ(reply.result.error().code, Code::timeout) << reply.result.error().message;
    EXPECT_EQ(reply.text().empty(), model == "fake:silent") << model;
  }
}

TEST_P(ProvidersE2e, ASlowAnswerIsNoneThatSaysNothing) {
  start({.idle_timeout = milliseconds(2000)});
  const auto begin = std::chrono::steady_clock::now();
  const Reply reply = say("fake:slow=50", "long:40");
  EXPECT_TRUE(reply.result) << reply.result.error().message;
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(2000));
}

// From another thread while nothing arrives: before the answer, in the middle, between two
// attempts.
TEST_P(ProvidersE2e, StopsAtOnce) {
  for (const std::string_view model : {"fake:silent", "fake:hang=3", "fake:429=30"}) {
    std::stop_source source;
    std::atomic<bool> now = false;
    std::chrono::steady_clock::time_point stopped;
    Reply reply;
    const auto seen = server_->request_count();
    {
      const std::jthread stopper([&] {
        while (!now && (model != "fake:silent" || server_->request_count() == seen)) {
          std::this_thread::sleep_for(milliseconds(5));
        }
        std::this_thread::sleep_for(milliseconds(100));
        stopped = std::chrono::steady_clock::now();
        source.request_stop();
      });
      reply = conversation(*provider_,
                           {.messages = {user("hello")},
                            .model = std::string(model),
                            .watch =
                                [&](const StreamEvent& event) {
                                  now = now || std::holds_alternative<TextDelta>(event) ||
                                        std::holds_alternative<Retrying>(event);
                                }},
                           source.get_token());
    }
    const auto end = std::chrono::steady_clock::now();
    ASSERT_FALSE(reply.result) << model;
    EXPECT_EQ(reply.result.error().code, Code::cancelled) << reply.result.error().message;
    EXPECT_LT(end - stopped, milliseconds(5000)) << model;
    EXPECT_EQ(reply.text().empty(), model != "fake:hang=3") << model;
  }
}

// A call whose input is not valid JSON is stored unchanged, and can be sent back.
TEST_P(ProvidersE2e, SendsBrokenInputsBackAsTheServerAcceptsThem) {
  const std::string question = R"(call:look {"path":"/tmp/x"})";
  const Reply reply = conversation(
      *provider_, {.messages = {user(question)}, .model = "fake:bad_input", .tools = tools()});
  ASSERT_TRUE(reply.result) << reply.result.error().message;
  const auto calls = reply.calls();
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls[0].input, RawJson::string(R"({"path":)"));
  const Reply last =
      conversation(*provider_, {.messages = with_results(question, reply), .tools = tools()});
  EXPECT_TRUE(last.result) << last.result.error().message;
}

// A session that is resumed without its tools.
TEST_P(ProvidersE2e, SendsCallsOfToolsThatAreNoLongerOffered) {
  const std::string question = "call:look {}";
  const Reply reply = conversation(*provider_, {.messages = {user(question)}, .tools = tools()});
  const Reply last = conversation(*provider_, {.messages = with_results(question, reply)});
  EXPECT_TRUE(last.result) << last.result.error().message;
}

// Lone surrogates, NUL and the like are sent in a form that the provider accepts.
TEST_P(ProvidersE2e, SendsAnyTextInAFormThatIsAccepted) {
  Message odd = user("");
  odd.blocks = {
      text_block("a\xff\x00"
                 "b\x1b[31m\xed\xa0\x80")};
  const Reply reply = conversation(*provider_, {.messages = {odd}});
  EXPECT_TRUE(reply.result) << reply.result.error().message;
}

TEST_P(ProvidersE2e, SendsALongHistoryInPieces) {
  std::vector<Message> messages;
  messages.reserve(41);
  const std::string filler(200'000, 'x');
  for (int i = 0; i < 40; ++i) {
    messages.push_back(
        message(i % 2 == 0 ? role::kUser : role::kAssistant, {TextBlock{cat(filler, " ", i), {}}}));
  }
  messages.push_back(user("hello"));
  const Reply reply =
      conversation(*provider_, {.messages = std::move(messages), .model = "fake:500,first=1"});
  ASSERT_TRUE(reply.result) << reply.result.error().message;
  EXPECT_EQ(reply.retries.size(), 1U);
  EXPECT_TRUE(reply.text().starts_with("answer 41 to: hello")) << reply.text();
}

INSTANTIATE_TEST_SUITE_P(All, ResponsesE2e, testing::Values("openai-responses"));
INSTANTIATE_TEST_SUITE_P(All, ProvidersE2e,
                         testing::Values("openai-chat", "openai-responses", "anthropic"),
                         [](const auto& param) {
                           std::string name = param.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace reprise::e2e
