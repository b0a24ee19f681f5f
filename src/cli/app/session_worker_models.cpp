// The models for /model: those that sessions used, and those of a local server.

#include <algorithm>
#include <charconv>
#include <system_error>

#include "base/http.h"
#include "base/json_scan.h"
#include "cli/app/session_worker.h"
#include "cli/repl/chat_session.h"
#include "provider/local_servers.h"

namespace reprise::cli::app {
namespace {

constexpr std::chrono::milliseconds kServerTimeout{500};

// The port of a server on this machine, which needs no key; nullopt for any other.
std::optional<std::uint16_t> local_port(std::string_view url) {
  if (!http::is_local_url(url)) {
    return std::nullopt;
  }
  const std::string server = http::server_of(url);
  const std::string_view digits = std::string_view(server).substr(server.rfind(':') + 1);
  std::uint16_t port = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  return code == std::errc{} && port > 0 ? std::optional(port) : std::nullopt;
}

std::string base_url_of(const Session& session) {
  json::Scanner scanner(json::find_member(session.config.text(), "base_url"));
  std::string url;
  return scanner.string(url) ? url : "";
}

// Most recently used first.
std::vector<std::string> models_of_sessions(Store& store, std::string_view provider) {
  std::vector<std::string> out;
  const auto page = store.list({.ungrouped = true, .limit = kPageMax});
  if (!page) {
    return out;  // errors are ignored: completion is a convenience
  }
  for (const SessionInfo& info : page->sessions) {
    if (info.provider == provider && !info.model.empty() &&
        std::ranges::find(out, info.model) == out.end()) {
      out.push_back(info.model);
    }
  }
  return out;
}

}  // namespace

void SessionWorker::list_models(TabId tab) {
  const Live live = find(tab);
  if (live == nullptr || live->is_closing()) {
    return;
  }
  ChatSession& session = live->session();
  if (Store* const store = session.store(); store != nullptr) {
    parts_.events.post(ModelsListed{tab, models_of_sessions(*store, session.provider().name())});
  }
  if (const auto port = local_port(base_url_of(session.now()))) {
    // The server may be slow; other sessions do not wait for it.
    background_.emplace_back([this, tab, port = *port] {
      const std::array<provider::KnownPort, 1> ports{{{"", port}}};
      for (LocalServer& server : provider::ask_local_ports(ports, kServerTimeout)) {
        parts_.events.post(ModelsListed{tab, std::move(server.models)});
      }
    });
  }
}

}  // namespace reprise::cli::app
