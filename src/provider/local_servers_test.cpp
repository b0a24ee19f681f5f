#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <vector>

#include "base/testing/loopback.h"
#include "base/text.h"
#include "provider/model_list.h"

namespace reprise::provider {
namespace {

std::string json_answer(std::string_view body) {
  return cat("HTTP/1.1 200 OK\r\nContent-Length: ", body.size(), "\r\n\r\n", body);
}

TEST(LocalServers, FindsThoseThatListModels) {
  std::string seen;
  const Loopback models([&](Peer& peer) {
    seen = peer.read_request();
    peer.write(json_answer(R"({"data":[{"id":"llama3.2"},{"id":"qwen\u001b3"}]})"));
  });
  const Loopback page([](Peer& peer) {
    peer.read_request();
    peer.write(json_answer("<html>a web server</html>"));
  });
  const Loopback silent([](Peer& peer) { peer.wait_for_close(); });
  const auto port = [](int number) { return static_cast<std::uint16_t>(number); };
  const std::array<KnownPort, 4> ports = {{{"A", port(free_port())},
                                           {"B", port(page.port())},
                                           {"C", port(silent.port())},
                                           {"D", port(models.port())}}};
  const auto before = std::chrono::steady_clock::now();
  const std::vector<LocalServer> found = probe_local_ports(ports, std::chrono::milliseconds(300));
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(5));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].name, "D");
  EXPECT_EQ(found[0].base_url, cat("http://127.0.0.1:", models.port(), "/v1"));
  EXPECT_EQ(found[0].models, (std::vector<std::string>{"llama3.2", "qwen 3"}));
  EXPECT_TRUE(seen.starts_with("GET /v1/models HTTP/1.1\r\n")) << seen;
}

}  // namespace
}  // namespace reprise::provider
