#include "cli/provider/provider_server.h"

#include <algorithm>
#include <ranges>

#include "base/http.h"
#include "base/text.h"
#include "cli/settings/program_config.h"
#include "cli/settings/provider_key.h"
#include "session/session_config.h"

namespace reprise::cli {
namespace {

bool is_called(const Settings& settings, std::string_view name, const NamedProvider& provider) {
  const auto named = find_provider(settings, name);
  return named && named->name == provider.name;
}

// Azure's servers expect the key in their own header.
bool uses_azure_header(std::string_view url) {
  const std::string server = http::server_of(url);
  const std::string_view host = std::string_view(server).substr(0, server.rfind(':'));
  return host.ends_with(".openai.azure.com") || host.ends_with(".cognitiveservices.azure.com");
}

// A missing key is an error for the provider's own server only. `is_variables_server`: the
// provider's key variable is for this server.
Result<> check_key_optional(const NamedProvider& provider, const std::string& url,
                            const FoundKey& found, bool is_variables_server,
                            ProviderOptions& options) {
  const std::string hint = found.hint.empty() ? "" : cat("; ", found.hint);
  const auto known = find_provider_at(*provider.kind, url);
  const std::string& variable = known ? known->key_variable : provider.key_variable;
  const std::string& own = known ? known->default_url : provider.default_url;
  if (!variable.empty() && http::is_same_server(url, own)) {
    return fail(
        Code::unauthorized,
        cat("no key for ", known ? known->name : provider.name, ": set ", variable,
            ", or env_key or key_command in the settings; `--provider echo` needs none", hint));
  }
  options.key_advice =
      cat(is_variables_server ? cat("set ", provider.key_variable)
                              : "set base_url and env_key in a [providers.NAME] of the settings",
          hint);
  return {};
}

// Sessions store URLs without the secrets in them.
bool lacks_secret(const std::string& stored_url) {
  return std::ranges::any_of(http::secrets_in_url(stored_url),
                             [](std::string_view secret) { return secret == "***"; });
}

// The URL of the same server in the settings or among well-known servers; "" if there is none. A
// stored URL is found again by what was stored of it.
std::string configured_url(const ChoiceSources& from, const NamedProvider& provider,
                           const std::string& url) {
  std::string found;
  for (const auto& [name, section] : from.settings.providers) {
    const auto named = find_provider(from.settings, name);
    if (named && named->kind == provider.kind && section.base_url &&
        http::is_same_server(*section.base_url, url)) {
      if (found.empty() || http::masked_url(*section.base_url) == url) {
        found = *section.base_url;
      }
    }
  }
  if (!found.empty()) {
    return found;
  }
  const auto known = find_provider_at(*provider.kind, url);
  return known ? known->default_url : "";
}

// The server in the settings that continues a session of a local server, because they no longer
// name that one; "" if none does. Sessions name only the protocol, so it may be that of the usual
// provider; then the conversation stays on this machine.
std::string replaced_server(const ChoiceSources& from, const NamedProvider& provider,
                            const std::string& session_url) {
  if (!configured_url(from, provider, session_url).empty()) {
    return "";
  }
  if (auto own = setting(from.settings, provider, &ProviderSettings::base_url)) {
    return *std::move(own);
  }
  const auto usual =
      from.settings.provider ? find_provider(from.settings, *from.settings.provider) : std::nullopt;
  if (!usual || usual->kind != provider.kind) {
    return "";
  }
  auto url = setting(from.settings, *usual, &ProviderSettings::base_url);
  return url && http::is_local_url(http::server_of(*url)) ? *std::move(url) : std::string();
}

// "" for the kind's default.
Result<std::string> base_url(const ChoiceSources& from, const NamedProvider& provider,
                             ProviderChoice& choice) {
  if (from.flags.base_url) {
    return *from.flags.base_url;
  }
  std::string base_url = base_url_for(from, provider);
  std::string session_url = choice.is_sessions_own ? stored_base_url(*from.session) : "";
  const bool is_local = http::is_local_url(http::server_of(session_url));
  const bool is_complete = is_local && !lacks_secret(session_url);
  if (is_complete) {
    std::string replaced = replaced_server(from, provider, session_url);
    if (replaced.empty()) {
      return session_url;
    }
    base_url = std::move(replaced);
  }
  if (session_url.empty() || http::is_same_server(session_url, base_url)) {
    return base_url;
  }
  // The session may come from somebody else, so the settings must name the server, too.
  if (std::string configured = configured_url(from, provider, session_url); !configured.empty()) {
    return configured;
  }
  if (is_local && !is_complete) {
    return fail(Code::unauthorized, cat("the key in the URL of ", http::host_of(session_url),
                                        " was not stored; give --base-url, or set base_url in the "
                                        "settings"));
  }
  const std::string now = base_url.empty() ? std::string(provider.kind->default_url) : base_url;
  if (!http::is_same_server(session_url, now)) {
    choice.warnings.push_back(cat("the session used ", http::host_of(session_url), "; ",
                                  http::host_of(now),
                                  " continues it; --base-url or the setting base_url selects the "
                                  "previous server"));
  }
  return base_url;
}

}  // namespace

std::optional<std::string> setting(const Settings& settings, const NamedProvider& provider,
                                   SettingMember member) {
  for (const auto& [name, section] : settings.providers) {
    if (section.*member && is_called(settings, name, provider)) {
      return section.*member;
    }
  }
  for (const TopSettings& top : settings.tops | std::views::reverse) {
    const auto& whose = top.provider ? top.provider : settings.provider;
    if (top.own.*member && (!whose || is_called(settings, *whose, provider))) {
      return top.own.*member;
    }
  }
  return std::nullopt;
}

std::string base_url_for(const ChoiceSources& from, const NamedProvider& provider) {
  if (auto url = setting(from.settings, provider, &ProviderSettings::base_url)) {
    return *std::move(url);
  }
  if (!provider.is_kind()) {
    return provider.default_url;
  }
  const std::string variable(provider.kind->url_variable);
  return from.context.environment().find(variable).value_or("");
}

Result<> choose_server(const ChoiceSources& from, const NamedProvider& provider,
                       ProviderChoice& choice) {
  ProviderOptions& options = choice.options;
  REPRISE_ASSIGN(const std::string chosen_url, base_url(from, provider, choice));
  options.base_url = trimmed(chosen_url);
  const std::string url =
      options.base_url.empty() ? std::string(provider.kind->default_url) : options.base_url;
  REPRISE_ASSIGN(FoundKey found,
                 find_key(from.context.environment(), from.settings, provider, url));
  options.api_key = std::move(found.key);
  options.key_advice = found.name.empty() ? "" : cat("check the key in ", found.name);
  if (options.api_key.empty()) {
    const bool is_variables_server =
        provider.is_kind() &&
        http::is_same_server(
            from.context.environment().find(provider.kind->url_variable).value_or(""), url);
    REPRISE_TRY(check_key_optional(provider, url, found, is_variables_server, options));
  } else if (uses_azure_header(url)) {
    options.auth = "api-key";
  }
  const bool has_secret = !options.api_key.empty() || http::masked_url(url) != url;
  if (has_secret && !is_safe_for_secrets(url) &&
      !from.context.config().is_insecure(from.settings)) {
    return fail(Code::unauthorized, cat("the key would be sent unencrypted to ", http::host_of(url),
                                        "; use https, or --insecure"));
  }
  return {};
}

}  // namespace reprise::cli
