#include "provider/local_servers.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <future>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/curl_transport.h"
#include "base/http.h"
#include "base/json_scan.h"
#include "base/text.h"
#include "provider/json_view.h"
#include "provider/refusal.h"
#include "reprise/provider.h"

namespace reprise {
namespace provider {
namespace {

constexpr std::size_t kListBytesMax = 1 << 20;
constexpr std::size_t kModelsMax = 1'000;

class Collected final : public http::Receiver {
 public:
  http::Want head(const http::ResponseHead& head) override {
    return head.status == 200 ? http::Want::more : http::Want::nothing;
  }
  http::Want data(std::string_view bytes) override {
    body += bytes;
    return body.size() < kListBytesMax ? http::Want::more : http::Want::nothing;
  }
  std::string body;
};

// Anything may listen on these ports: only a list of models is one.
std::optional<std::vector<std::string>> models_in(std::string_view body) {
  if (!is_json_object(body) || !JsonView(body)["data"].is(json::Kind::array)) {
    return std::nullopt;
  }
  std::vector<std::string> models;
  JsonView(body)["data"].each([&](JsonView model) {
    if (std::string id = one_line(model["id"].text(), "");
        !id.empty() && models.size() < kModelsMax) {
      models.push_back(std::move(id));
    }
  });
  return models;
}

std::optional<LocalServer> ask_one(KnownPort known, std::chrono::milliseconds timeout,
                                   std::stop_token stop) {
  const std::string base_url = cat("http://127.0.0.1:", known.port, "/v1");
  const http::Request request{
      .url = cat(base_url, "/models"), .connect_timeout = timeout, .idle_timeout = timeout};
  Collected answer;
  if (const auto done = http::make_curl_transport()->send(request, answer, std::move(stop));
      !done) {
    return std::nullopt;  // nothing there, which is the usual case
  }
  auto models = models_in(answer.body);
  if (!models) {
    return std::nullopt;
  }
  return LocalServer{std::string(known.name), base_url, *std::move(models)};
}

}  // namespace

std::vector<LocalServer> ask_local_ports(std::span<const KnownPort> ports,
                                         std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  const std::stop_source late;
  std::vector<std::future<std::optional<LocalServer>>> asked;
  asked.reserve(ports.size());
  for (const KnownPort& known : ports) {
    asked.push_back(std::async(std::launch::async, ask_one, known, timeout, late.get_token()));
  }
  for (const auto& one : asked) {
    (void)one.wait_until(deadline);  // whether it came in time shows below
  }
  late.request_stop();
  std::vector<LocalServer> found;
  for (auto& one : asked) {
    if (auto server = one.get(); server) {
      found.push_back(*std::move(server));
    }
  }
  return found;
}

}  // namespace provider

std::vector<LocalServer> find_local_servers(std::chrono::milliseconds timeout) {
  constexpr std::array<provider::KnownPort, 4> kUsual = {{
      {"Ollama", 11434},
      {"llama.cpp", 8080},
      {"LM Studio", 1234},
      {"vLLM", 8000},
  }};
  return provider::ask_local_ports(kUsual, timeout);
}

}  // namespace reprise
