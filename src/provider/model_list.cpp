#include "provider/model_list.h"

#include <algorithm>
#include <array>
#include <future>

#include "base/curl_transport.h"
#include "base/http.h"
#include "base/json_scan.h"
#include "base/json_view.h"
#include "base/text.h"
#include "provider/refusal.h"
#include "provider/secret_mask.h"
#include "reprise/provider.h"

namespace reprise::provider {
namespace {

constexpr std::size_t kModelsBytesMax = 16 << 20;  // routers list hundreds, with long descriptions
constexpr std::size_t kLocalListBytesMax = 1 << 20;
constexpr std::size_t kSimilarModels = 3;

// The longest request with its answer, in the words of OpenRouter and Kimi, vLLM, Groq, Mistral and
// LM Studio, Anthropic, Google; llama.cpp has it within "meta".
std::int64_t context_tokens(JsonView model) {
  constexpr std::string_view kNames[] = {"context_length",     "max_model_len",  "context_window",
                                         "max_context_length", "context_size",   "max_input_tokens",
                                         "input_token_limit",  "inputTokenLimit"};
  for (const std::string_view name : kNames) {
    if (const std::int64_t tokens = model[name].count(); tokens > 0) {
      return tokens;
    }
  }
  return std::max<std::int64_t>(0, model["meta"]["n_ctx"].count());
}

std::optional<LocalServer> probe_port(KnownPort port, std::chrono::milliseconds timeout,
                                      std::stop_token stop) {
  const std::string base_url = cat("http://127.0.0.1:", port.port, "/v1");
  const http::Request request{
      .url = cat(base_url, "/models"), .connect_timeout = timeout, .idle_timeout = timeout};
  BoundedResponse answer(kLocalListBytesMax, std::chrono::steady_clock::now() + timeout);
  if (const auto done = http::make_curl_transport()->send(request, answer, std::move(stop));
      !done) {
    return std::nullopt;  // usually nothing listens there
  }
  // Anything may listen on these ports: only a model list identifies a model server.
  const auto page = parse_model_page(answer.body());
  if (!page || answer.response().status != 200) {
    return std::nullopt;
  }
  LocalServer server{.name = std::string(port.name), .base_url = base_url, .models = {}};
  for (const ModelInfo& model : page->models) {
    server.models.push_back(model.id);
  }
  return server;
}

}  // namespace

std::optional<ModelPage> parse_model_page(std::string_view body) {
  if (!is_json_object(body) || !JsonView(body)["data"].is(json::Kind::array)) {
    return std::nullopt;
  }
  const JsonView list(body);
  ModelPage page;
  list["data"].each([&](JsonView model) {
    ModelInfo info{.id = one_line(model["id"].text(), ""),
                   .name = one_line(model["display_name"].text(), ""),
                   .ends_on = one_line(model["shutdown_date"].text(), ""),
                   .context_tokens = context_tokens(model)};
    if (!info.id.empty() && page.models.size() < kModelsMax) {
      page.models.push_back(std::move(info));
    }
  });
  if (list["has_more"].raw() == "true") {
    page.next = list["last_id"].text();
  }
  return page;
}

http::ReceiveAction BoundedResponse::head(const http::ResponseHead& head) {
  head_ = head;
  return http::ReceiveAction::more;
}

http::ReceiveAction BoundedResponse::data(std::string_view bytes) {
  is_late_ = std::chrono::steady_clock::now() > deadline_;
  body_ += bytes.substr(0, bytes_max_ - body_.size());
  return is_late_ || body_.size() == bytes_max_ ? http::ReceiveAction::nothing
                                                : http::ReceiveAction::more;
}

Result<ModelPage> fetch_model_page(http::Transport& transport, const http::Request& sent,
                                   std::chrono::steady_clock::time_point deadline,
                                   const Endpoint& recipient, const std::stop_token& stop) {
  BoundedResponse answer(kModelsBytesMax, deadline);
  REPRISE_TRY(transport.send(sent, answer, stop));
  const std::string host = http::host_of(recipient.base_url);
  if (answer.was_late()) {
    return fail(Code::timeout, cat(host, " took too long to list its models; try again later"));
  }
  const int status = answer.response().status;
  if (status == 404 || status == 405) {
    return fail(Code::unsupported, cat(host, " does not list its models (", status, ")"));
  }
  if (status != 200) {
    return std::unexpected(error_of_status(recipient, answer.response(), answer.body()));
  }
  auto page = parse_model_page(answer.body());
  if (!page) {
    return fail(Code::unsupported,
                cat(host, " did not return a list of models; check the base URL"));
  }
  for (ModelInfo& model : page->models) {
    model.id = masked(model.id, recipient.secrets);
    model.name = masked(model.name, recipient.secrets);
  }
  return *std::move(page);
}

Error with_suggestions(Error error, std::string_view model, const std::vector<ModelInfo>& offered) {
  std::vector<std::string_view> ids;
  ids.reserve(offered.size());
  for (const ModelInfo& listed : offered) {
    ids.push_back(listed.id);
  }
  std::string_view gap = ", such as ";
  for (const std::string_view id : nearest_few(model, ids, kSimilarModels)) {
    error.message += cat(std::exchange(gap, ", "), id);
  }
  return error;
}

std::vector<LocalServer> probe_local_ports(std::span<const KnownPort> ports,
                                           std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  const std::stop_source late;
  std::vector<std::future<std::optional<LocalServer>>> probes;
  probes.reserve(ports.size());
  for (const KnownPort& port : ports) {
    // Deferred, and then too late, where no thread can be created.
    probes.push_back(std::async(std::launch::async | std::launch::deferred, probe_port, port,
                                timeout, late.get_token()));
  }
  for (const auto& probe : probes) {
    (void)probe.wait_until(deadline);  // late ones are detected below
  }
  late.request_stop();
  std::vector<LocalServer> found;
  for (auto& probe : probes) {
    if (auto server = probe.get(); server) {
      found.push_back(*std::move(server));
    }
  }
  return found;
}

}  // namespace reprise::provider

namespace reprise {

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
  return provider::probe_local_ports(probes, timeout);
}

}  // namespace reprise
