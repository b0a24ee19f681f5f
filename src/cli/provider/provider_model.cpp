#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>

#include "base/http.h"
#include "base/text.h"
#include "choice/provider_names.h"
#include "cli/provider/provider_server.h"

namespace reprise::cli {
namespace {

constexpr std::chrono::milliseconds kLocalServerTimeout{300};
constexpr std::chrono::milliseconds kServerModelsTimeout{3'000};

bool is_away(const Error& error) {
  return error.os_errno == ECONNREFUSED || error.os_errno == EHOSTUNREACH;
}

}  // namespace

bool is_own_server(const ProviderKind& kind, std::string_view base_url) {
  return base_url.empty() ||
         ascii_lower(http::host_of(base_url)) == http::host_of(kind.default_url);
}

std::string default_model(const ProviderKind& kind, bool dev, std::string_view base_url,
                          const std::vector<ModelInfo>& offered) {
  std::string model_name(dev ? kind.dev_model : kind.default_model);
  const bool is_offered = std::ranges::find(offered, model_name, &ModelInfo::id) != offered.end();
  if (!is_offered && !offered.empty() && !is_own_server(kind, base_url)) {
    return offered.front().id;
  }
  return model_name;
}

Result<std::string> model_of_server(Context& context, const ProviderKind& kind,
                                    const RunFlags& flags, const ProviderChoice& choice) {
  const std::string& url = choice.options.base_url;
  const bool dev = flags.dev;
  if (is_own_server(kind, url)) {
    return default_model(kind, dev, url, {});
  }
  if (flags.sends_nothing) {
    context.console().notice(
        cat("no model is set: ", http::host_of(url), " would be asked for one"));
    return default_model(kind, dev, url, {});
  }
  REPRISE_ASSIGN(const auto provider, make_provider(choice.kind, choice.options));
  const auto offered = provider->models(kServerModelsTimeout, std::stop_token());
  if (!offered || offered->empty()) {
    std::string model_name = default_model(kind, dev, url, {});
    if (offered || !is_away(offered.error())) {  // else the request reports it
      context.console().notice(cat("no model is set, and ", http::host_of(url),
                                   offered ? " lists none"
                                   : offered.error().code == Code::timeout
                                       ? " did not list its models in time"
                                       : " did not list its models",
                                   ": trying ", model_name, "; --model names another"));
    }
    return model_name;
  }
  std::string model = default_model(kind, dev, url, *offered);
  if (model != default_model(kind, dev, url, {})) {
    context.console().notice(cat("using ", model,
                                 offered->size() == 1
                                     ? std::string(", the only model of ")
                                     : cat(", the first of ", offered->size(), " models of "),
                                 http::host_of(url), "; --model names another"));
  }
  return model;
}

// Ignores words that are not ports, so that "none" disables the search.
std::vector<LocalServer> local_servers(Context& context, std::chrono::milliseconds timeout) {
  const auto given = context.environment().find("REPRISE_LOCAL_PORTS");
  if (!given || given->empty()) {
    return find_local_servers(timeout);
  }
  std::vector<std::uint16_t> ports;
  for (const std::string_view word : split(*given, ',')) {
    if (const auto port = parse_number<std::uint16_t>(trimmed(word))) {
      ports.push_back(*port);
    }
  }
  return find_local_servers(timeout, ports);
}

Result<ProviderChoice> local_server(const ChoiceSources& from) {
  const std::string model_name =
      from.flags.model.value_or(from.session == nullptr ? "" : from.session->info.model);
  const std::vector<LocalServer> servers = local_servers(from.context, kLocalServerTimeout);
  const auto has_model = [&](const LocalServer& server) {
    return std::ranges::find(server.models, model_name) != server.models.end();
  };
  auto usable = std::ranges::find_if(servers, has_model);
  if (usable == servers.end()) {
    usable = std::ranges::find_if(servers, [&](const LocalServer& server) {
      return from.flags.model.has_value() || !server.models.empty();
    });
  }
  if (usable == servers.end()) {
    return fail(Code::not_found,
                cat("no provider: run `reprise setup`, or set ", key_variables(" or "),
                    ", or start a local server such as Ollama, or try `--provider echo`, which "
                    "needs no key and no server"));
  }
  const std::string model =
      from.flags.model || has_model(*usable) ? model_name : usable->models.front();
  from.context.console().notice(
      model.empty() ? cat("asking ", usable->name, " at ", usable->base_url)
                    : cat("using ", model, " on ", usable->name, " at ", usable->base_url));
  const auto known = find_provider_at(*find_provider_kind(kCompatibleKind), usable->base_url);
  ProviderChoice choice{.kind = std::string(kCompatibleKind),
                        .name = known ? known->name : std::string(kCompatibleKind),
                        .model = model,
                        .options = {},
                        .warnings = {}};
  choice.options.base_url = usable->base_url;
  return choice;
}

}  // namespace reprise::cli
