#include "provider/local_servers.h"

#include <algorithm>
#include <array>
#include <future>

#include "base/curl_transport.h"
#include "base/http.h"
#include "base/text.h"
#include "provider/model_list.h"
#include "reprise/provider.h"

namespace reprise {
namespace provider {
namespace {

constexpr std::size_t kListBytesMax = 1 << 20;

std::optional<LocalServer> ask_one(KnownPort known, std::chrono::milliseconds timeout,
                                   std::stop_token stop) {
  const std::string base_url = cat("http://127.0.0.1:", known.port, "/v1");
  const http::Request request{
      .url = cat(base_url, "/models"), .connect_timeout = timeout, .idle_timeout = timeout};
  ShortAnswer answer(kListBytesMax, std::chrono::steady_clock::now() + timeout);
  if (const auto done = http::make_curl_transport()->send(request, answer, std::move(stop));
      !done) {
    return std::nullopt;  // usually nothing listens there
  }
  // Anything may listen on these ports: only a model list identifies a model server.
  const auto page = parse_model_page(answer.body());
  if (!page || answer.response().status != 200) {
    return std::nullopt;
  }
  LocalServer server{.name = std::string(known.name), .base_url = base_url, .models = {}};
  for (const ModelInfo& model : page->models) {
    server.models.push_back(model.id);
  }
  return server;
}

}  // namespace

std::vector<LocalServer> ask_local_ports(std::span<const KnownPort> ports,
                                         std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  const std::stop_source late;
  std::vector<std::future<std::optional<LocalServer>>> probes;
  probes.reserve(ports.size());
  for (const KnownPort& known : ports) {
    // Deferred, and then too late, where no thread can be created.
    probes.push_back(std::async(std::launch::async | std::launch::deferred, ask_one, known, timeout,
                                late.get_token()));
  }
  for (const auto& one : probes) {
    (void)one.wait_until(deadline);  // late ones are detected below
  }
  late.request_stop();
  std::vector<LocalServer> found;
  for (auto& one : probes) {
    if (auto server = one.get(); server) {
      found.push_back(*std::move(server));
    }
  }
  return found;
}

}  // namespace provider

std::vector<LocalServer> find_local_servers(std::chrono::milliseconds timeout,
                                            std::span<const std::uint16_t> ports) {
  constexpr std::array<std::string_view, kLocalPorts.size()> kNames = {"Ollama", "llama.cpp",
                                                                       "LM Studio", "vLLM"};
  std::vector<provider::KnownPort> probes;
  for (const std::uint16_t port : ports) {
    const auto known = std::ranges::find(kLocalPorts, port);
    const auto at = static_cast<std::size_t>(known - kLocalPorts.begin());
    probes.push_back({known == kLocalPorts.end() ? "a local server" : kNames.at(at), port});
  }
  return provider::ask_local_ports(probes, timeout);
}

}  // namespace reprise
