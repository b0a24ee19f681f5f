#include "fake_provider/behaviour.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>

#include "base/text.h"
#include "base/utf8.h"
#include "fake_provider/fake_provider.h"
#include "fake_provider/json_value.h"
#include "fake_provider/raw_client.h"
#include "reprise/error.h"

namespace reprise::fake {
namespace {

using Milliseconds = std::chrono::milliseconds;

TEST(Behaviour, NamesTheWordItDoesNotKnow) {
  EXPECT_EQ(parse_behaviour("slow=1,quick").error().message, "no such behaviour: quick");
  EXPECT_FALSE(parse_behaviour("cut=x"));
  EXPECT_FALSE(parse_behaviour("cut"));
  EXPECT_FALSE(parse_behaviour("crlf=1"));
  EXPECT_FALSE(parse_behaviour("200"));
  const auto good = parse_behaviour(" slow=5 , 429=0, first=2,tag=a b");
  ASSERT_TRUE(good);
  EXPECT_EQ(good->slow_ms, 5);
  EXPECT_EQ(good->status, 429);
  EXPECT_EQ(good->retry_after, 0);
  EXPECT_EQ(good->first, 2);
}

TEST(Behaviour, ReadsScriptLines) {
  EXPECT_FALSE(parse_rule("  ")->has_value());
  EXPECT_FALSE(parse_rule("# request 1 => cut=1")->has_value());
  EXPECT_FALSE(parse_rule("request 1: cut=1"));
  EXPECT_FALSE(parse_rule("sometimes => cut=1"));
  EXPECT_EQ(parse_rule("reply the capital => Paris, yes")->value().reply, "Paris, yes");
  EXPECT_EQ(parse_rule("reply a list => - a\\n- b")->value().reply, "- a\n- b");
  EXPECT_EQ(parse_rule("request 3 => cut=2")->value().behaviour.cut, 2);
}

class MisbehaviourTest : public testing::Test {
 protected:
  static std::string body(std::string_view model, std::string_view question = "hello",
                          bool stream = true) {
    return cat(R"({"model":")", model, R"(","messages":[{"role":"user","content":")", question,
               R"("}],"stream":)", stream ? "true" : "false", "}");
  }
  RawReply chat(std::string_view model, std::string_view question = "hello") {
    return ask(server_->port(), post("/v1/chat/completions", body(model, question)));
  }
  RawReply anthropic(std::string_view model) {
    const std::string text = body(model);
    return ask(server_->port(), post("/v1/messages", cat(R"({"max_tokens":9,)", text.substr(1)),
                                     "anthropic-version: 2023-06-01\r\n"));
  }
  RawReply responses(std::string_view model) {
    return ask(server_->port(), post("/v1/responses", cat(R"({"model":")", model,
                                                          R"(","input":"hello","stream":true})")));
  }

  std::unique_ptr<FakeProvider> server_ = *FakeProvider::start({.port = 0, .key = "", .seed = 1});
};

TEST_F(MisbehaviourTest, CutsInTheMiddleOfAnEvent) {
  for (const auto& reply : {chat("fake:cut=2"), anthropic("fake:cut=2"), responses("fake:cut=2")}) {
    EXPECT_EQ(reply.status, 200);
    EXPECT_FALSE(reply.complete);
    ASSERT_FALSE(reply.events().empty());
    EXPECT_FALSE(reply.body.ends_with("\n\n"));
    EXPECT_EQ(reply.body.find("[DONE]"), std::string::npos);
  }
  EXPECT_FALSE(server_->requests().back().whole);
}

TEST_F(MisbehaviourTest, CutsInsideACharacter) {
  for (const auto& reply :
       {chat("fake:cut_char=0"), anthropic("fake:cut_char=0"), responses("fake:cut_char=0")}) {
    EXPECT_EQ(utf8::incomplete_tail(reply.body), 1U) << reply.body;
    EXPECT_FALSE(reply.complete);
  }
}

// The framing does not show that something is missing.
TEST_F(MisbehaviourTest, CutsLookLikeAnEndWithoutChunks) {
  const auto reply = chat("fake:until_close,cut=1");
  EXPECT_EQ(reply.head.find("chunked"), std::string::npos);
  EXPECT_EQ(reply.head.find("content-length"), std::string::npos);
  EXPECT_EQ(reply.events().size(), 3U);  // the last one is incomplete
}

TEST_F(MisbehaviourTest, IsSlow) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(chat("fake:slow=10").complete);
  EXPECT_GE(std::chrono::steady_clock::now() - start, Milliseconds(50));
}

TEST_F(MisbehaviourTest, HangsUntilTheClientHasEnough) {
  {
    RawClient client(server_->port());
    client.send(post("/v1/chat/completions", body("fake:hang=1")));
    const auto reply = client.receive(1000);
    EXPECT_FALSE(reply.complete);
    EXPECT_EQ(reply.events().size(), 2U);
    RawClient other(server_->port());
    other.send(post("/v1/chat/completions", body("fake:silent")));
    EXPECT_EQ(other.receive(100).bytes, "");
  }
  // The server serves others meanwhile, and stops although connections hang.
  const RawClient client(server_->port());
  client.send(post("/v1/chat/completions", body("fake:hang=0")));
  while (server_->request_count() < 3) {
    std::this_thread::sleep_for(Milliseconds(1));
  }
  EXPECT_TRUE(chat("m").complete);
  server_->stop();
  EXPECT_EQ(server_->request_count(), 4);
}

TEST_F(MisbehaviourTest, AnswersWithAStatusSomeTimes) {
  const std::string_view model = "fake:429=7,first=2";
  for (int i = 0; i < 2; ++i) {
    const auto reply = chat(model);
    EXPECT_EQ(reply.status, 429);
    EXPECT_NE(reply.head.find("retry-after: 7\r\n"), std::string::npos);
    EXPECT_NE(reply.body.find("rate_limit_error"), std::string::npos);
  }
  EXPECT_EQ(chat(model).status, 200);
  EXPECT_EQ(chat("fake:429=7,first=2,tag=other").status, 429);
  EXPECT_EQ(chat("fake:500").status, 500);
  const auto overloaded = anthropic("fake:529");
  EXPECT_EQ(overloaded.status, 529);
  EXPECT_NE(overloaded.body.find("overloaded_error"), std::string::npos);
  EXPECT_EQ(chat("fake:500,every=2").status, 200);
  EXPECT_EQ(chat("fake:500,every=2").status, 500);
  EXPECT_TRUE(server_->violations().empty());
}

TEST_F(MisbehaviourTest, SendsAnErrorInMidStream) {
  for (const auto& reply : {chat("fake:overloaded=2"), anthropic("fake:overloaded=2"),
                            responses("fake:overloaded=2")}) {
    EXPECT_TRUE(reply.complete);
    const auto last = parse_value(reply.events().back());
    ASSERT_TRUE(last);
    EXPECT_NE(reply.events().back().find("Overloaded"), std::string::npos);
  }
}

TEST_F(MisbehaviourTest, LeavesTheEndOut) {
  EXPECT_EQ(chat("fake:no_done").body.find("[DONE]"), std::string::npos);
  EXPECT_NE(chat("fake:no_done").body.find(R"("finish_reason":"stop")"), std::string::npos);
  EXPECT_EQ(chat("fake:no_end").body.find(R"("finish_reason":"stop")"), std::string::npos);
  EXPECT_EQ(anthropic("fake:no_done").body.find("message_stop"), std::string::npos);
  EXPECT_EQ(responses("fake:no_end").body.find("response.completed"), std::string::npos);
  EXPECT_TRUE(responses("fake:no_end").complete);
}

TEST_F(MisbehaviourTest, SendsOtherThingsThanAStream) {
  const auto html = chat("fake:html");
  EXPECT_EQ(html.status, 502);
  EXPECT_NE(html.head.find("text/html"), std::string::npos);
  const auto garbage = chat("fake:garbage");
  EXPECT_EQ(garbage.status, 200);
  EXPECT_FALSE(utf8::is_valid(garbage.body));
  const auto plain = chat("fake:plain");
  EXPECT_NE(plain.head.find("application/json"), std::string::npos);
  EXPECT_TRUE(parse_value(plain.body));
  EXPECT_EQ(chat("fake:drop").bytes, "");
}

TEST_F(MisbehaviourTest, SpellsTheSameStreamDifferently) {
  const auto usual = chat("m");
  for (const std::string_view model : {"fake:crlf", "fake:comments", "fake:drip=1"}) {
    const auto reply = chat(model);
    EXPECT_TRUE(reply.complete) << model;
    EXPECT_EQ(reply.events().size(), usual.events().size()) << model;
  }
  EXPECT_NE(chat("fake:crlf").body.find("\r\n\r\n"), std::string::npos);
  EXPECT_EQ(chat("fake:crlf").body.find("}\n"), std::string::npos);
  EXPECT_TRUE(chat("fake:comments").body.starts_with(": a comment"));
}

TEST_F(MisbehaviourTest, SendsAHugeDelta) {
  const auto reply = chat("fake:huge=300000");
  ASSERT_TRUE(reply.complete);
  EXPECT_GT(reply.events().at(1).size(), 300000U);
}

TEST_F(MisbehaviourTest, ForgetsResponses) {
  const auto first =
      parse_value(ask(server_->port(), post("/v1/responses", R"({"model":"m","input":"x"})")).body);
  ASSERT_TRUE(first);
  const auto next = [&](std::string_view model) {
    return ask(server_->port(),
               post("/v1/responses",
                    cat(R"({"model":")", model, R"(","input":"y","previous_response_id":")",
                        first->find("id").text, "\"}")));
  };
  EXPECT_NE(next("fake:expired").body.find("previous_response_not_found"), std::string::npos);
  EXPECT_EQ(next("m").status, 200);
  EXPECT_TRUE(server_->violations().empty());
}

TEST_F(MisbehaviourTest, CutsToolInputsShort) {
  const auto reply =
      ask(server_->port(),
          post("/v1/chat/completions",
               R"({"model":"fake:bad_input","messages":[{"role":"user","content":)"
               R"("call:look {\"path\":\"x\"}"}],"tools":[{"type":"function","function":)"
               R"({"name":"look","parameters":{"type":"object"}}}]})"));
  EXPECT_NE(reply.body.find(R"("arguments":"{\"path"})"), std::string::npos) << reply.body;
}

TEST_F(MisbehaviourTest, FollowsTheScript) {
  ASSERT_TRUE(server_->add_rule("request 2 => 500"));
  ASSERT_TRUE(server_->add_rule("text hello => 503,first=1"));
  ASSERT_TRUE(server_->add_rule("path /v1/messages => crlf"));
  ASSERT_TRUE(server_->add_rule("reply capital => Paris"));
  EXPECT_FALSE(server_->add_rule("often => 500"));
  EXPECT_EQ(chat("m", "hello").status, 503);
  EXPECT_EQ(chat("m", "hello").status, 500);
  EXPECT_EQ(chat("m", "hello").status, 200);
  EXPECT_NE(anthropic("m").body.find("\r\n"), std::string::npos);
  EXPECT_NE(chat("m", "the capital?").body.find("Paris"), std::string::npos);
}

TEST_F(MisbehaviourTest, ChancesRepeatWithTheSeed) {
  const auto pattern = [&] {
    const auto server = *FakeProvider::start({.port = 0, .key = "", .seed = 7});
    std::string out;
    for (int i = 0; i < 20; ++i) {
      out += ask(server->port(), post("/v1/chat/completions", body("fake:500,chance=50"))).status ==
                     500
                 ? 'x'
                 : '.';
    }
    return out;
  };
  const std::string first = pattern();
  EXPECT_EQ(first, pattern());
  EXPECT_NE(first.find('x'), std::string::npos);
  EXPECT_NE(first.find('.'), std::string::npos);
}

}  // namespace
}  // namespace reprise::fake
