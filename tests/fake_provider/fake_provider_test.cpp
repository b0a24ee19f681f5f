#include "fake_provider/fake_provider.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include "base/text.h"
#include "fake_provider/answer.h"
#include "fake_provider/json_value.h"
#include "fake_provider/raw_client.h"

namespace reprise::fake {
namespace {

constexpr std::string_view kHello =
    R"({"model":"m","messages":[{"role":"user","content":"hello"}]})";
constexpr std::string_view kChat = "/v1/chat/completions";

std::unique_ptr<FakeProvider> start(std::string key = "") {
  return *FakeProvider::start({.port = 0, .key = std::move(key), .seed = 1});
}

RawReply get(const FakeProvider& server, std::string_view path) {
  return ask(server.port(), cat("GET ", path, " HTTP/1.1\r\nhost: x\r\n\r\n"));
}

TEST(FakeProvider, ServesSeveralRequestsOnOneConnection) {
  const auto server = start();
  RawClient client(server->port());
  client.send(post(kChat, kHello) + post(kChat, kHello));  // the second before the first answer
  EXPECT_EQ(client.receive().status, 200);
  EXPECT_EQ(client.receive().status, 200);
  client.send(post(kChat, "{}"));
  EXPECT_EQ(client.receive().status, 400);
  client.send(post(kChat, kHello));
  EXPECT_EQ(client.receive().status, 200);
  EXPECT_EQ(server->request_count(), 4);
}

TEST(FakeProvider, TakesChunkedBodiesInAnyPieces) {
  const auto server = start();
  RawClient client(server->port());
  client.send(
      "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
      "Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n");
  for (const char c : kHello) {
    client.send(cat("1;x=y\r\n", c, "\r\n"));
  }
  client.send("0\r\n\r\n");
  const auto reply = client.receive();
  EXPECT_TRUE(reply.bytes.starts_with("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK"))
      << reply.bytes;
}

TEST(FakeProvider, TakesLargeBodiesAndRefusesTooLargeOnes) {
  const auto server = start();
  const std::string large(4 << 20, 'x');
  const auto reply = ask(
      server->port(),
      post(kChat, cat(R"({"model":"m","messages":[{"role":"user","content":")", large, "\"}]}")));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(ask(server->port(), "POST / HTTP/1.1\r\ncontent-length: 67108865\r\n\r\n").status, 400);
}

TEST(FakeProvider, RefusesWhatIsNoHttp) {
  const auto server = start();
  EXPECT_EQ(ask(server->port(), "hello\r\n\r\n").status, 400);
  EXPECT_EQ(ask(server->port(), "POST / HTTP/1.1\r\ncontent-length: x\r\n\r\n").status, 400);
  EXPECT_EQ(ask(server->port(), "POST / HTTP/1.1\r\nno colon\r\n\r\n").status, 400);
  EXPECT_EQ(get(*server, "/v1/nothing").status, 404);
  EXPECT_EQ(get(*server, kChat).status, 405);
}

TEST(FakeProvider, AsksForItsKey) {
  const auto server = start("sk-right");
  const auto with = [&](std::string_view path, std::string_view header) {
    return ask(server->port(), post(path, kHello, header)).status;
  };
  EXPECT_EQ(with(kChat, ""), 401);
  EXPECT_EQ(with(kChat, "authorization: Bearer sk-wrong\r\n"), 401);
  EXPECT_EQ(with(kChat, "authorization: sk-right\r\n"), 401);
  EXPECT_EQ(with(kChat, "Authorization: Bearer sk-right\r\n"), 200);
  EXPECT_EQ(with("/v1/messages", "authorization: Bearer sk-right\r\n"), 401);
  EXPECT_EQ(with("/v1/messages", "x-api-key: sk-right\r\n"), 400);  // accepts the key
  EXPECT_NE(
      ask(server->port(),
          post(kChat, R"({"model":"fake:echo_key","messages":[{"role":"user","content":"x"}]})",
               "authorization: Bearer sk-right\r\n"))
          .body.find("sk-right"),
      std::string::npos);
}

TEST(FakeProvider, ShowsWhatItHasSeen) {
  const auto server = start();
  (void)ask(server->port(), post(kChat, kHello));  // only its record matters
  (void)ask(server->port(), post(kChat, "{}"));
  // The end of an answer is recorded after its last byte was sent.
  for (int i = 0;
       i < 5000 && (server->requests()[0].status == 0 || server->requests().back().status == 0);
       ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const auto seen = server->requests();
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].body, kHello);
  EXPECT_EQ(seen[0].status, 200);
  EXPECT_TRUE(seen[0].whole);
  EXPECT_EQ(seen[0].violation, "");
  EXPECT_EQ(seen[1].violation, "model: field required");
  EXPECT_EQ(server->violations(), std::vector<std::string>{"request 2: model: field required"});

  const auto violations = parse_value(get(*server, "/_violations").body);
  EXPECT_EQ(violations->find("count").text, "1");
  EXPECT_EQ(violations->find("violations").items.at(0).text, server->violations()[0]);
  const auto requests = parse_value(get(*server, "/_requests").body);
  EXPECT_EQ(requests->find("count").text, "2");
  EXPECT_EQ(requests->find("requests").items.at(0).find("body").text, kHello);
}

TEST(FakeProvider, TakesScriptLinesOverHttp) {
  const auto server = start();
  EXPECT_EQ(ask(server->port(), post("/_script", "text hello => 503")).status, 200);
  EXPECT_EQ(ask(server->port(), post("/_script", "hello")).status, 400);
  EXPECT_EQ(ask(server->port(), post(kChat, kHello)).status, 503);
}

TEST(FakeProvider, ListsItsModels) {
  const auto server = start();
  const auto models = parse_value(get(*server, "/v1/models").body);
  EXPECT_EQ(models->find("data").items.at(0).find("id").text, "fake-large");
}

TEST(FakeProvider, ServesManyClientsAtOnce) {
  const auto server = start();
  constexpr int kClients = 16;
  std::vector<int> good(kClients);
  {
    std::vector<std::jthread> clients;
    clients.reserve(good.size());
    for (int& count : good) {
      clients.emplace_back([&] {
        for (int i = 0; i < 20; ++i) {
          count += ask(server->port(), post(kChat, kHello)).status == 200 ? 1 : 0;
        }
      });
    }
  }
  EXPECT_EQ(good, std::vector<int>(kClients, 20));
  EXPECT_EQ(server->request_count(), kClients * 20);
}

TEST(FakeProvider, IdsRepeatOnlyWithTheSeed) {
  const auto id = [](const FakeProvider& server) {
    return parse_value(ask(server.port(), post(kChat, kHello)).body)->find("id").text;
  };
  const auto first = start();
  const auto same = start();
  const auto other = *FakeProvider::start();
  const std::string name = id(*first);
  EXPECT_EQ(name, id(*same));
  EXPECT_NE(name, id(*first));
  EXPECT_NE(name, id(*other));
}

TEST(FakeAnswer, CallsInRounds) {
  Turn turn;
  turn.question = "rounds:3 call:look {\"a\":1}";
  turn.tools = {"look"};
  for (turn.rounds = 0; turn.rounds < 3; ++turn.rounds) {
    EXPECT_EQ(answer_to(turn).calls.size(), 1U);
  }
  EXPECT_TRUE(answer_to(turn).calls.empty());
  turn.question = "long:12";
  EXPECT_TRUE(answer_to(turn).text.ends_with("word9 wörd10 word11 word12"));
}

}  // namespace
}  // namespace reprise::fake
