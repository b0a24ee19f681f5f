#include "cli/settings/provider_key.h"

#include <ranges>
#include <utility>
#include <vector>

#include "base/http.h"
#include "base/text.h"
#include "cli/process/key_command.h"

namespace reprise::cli {
namespace {

// A configured key and the server that it belongs to.
struct SetKey {
  const ProviderSettings* settings;
  std::string url;    // "" if neither a provider nor a server is beside it
  std::string where;  // "[providers.x]", or the file
};

bool has_key(const ProviderSettings& settings) {
  return settings.env_key || settings.key_command;
}

// openai-chat and openai-responses, for example, share keys.
bool shares_keys(const NamedProvider& a, const NamedProvider& b) {
  return a.kind->key_variable == b.kind->key_variable;
}

std::string server_of_key(const ProviderSettings& key, const NamedProvider& provider) {
  return key.key_url.empty() ? provider.default_url : key.key_url;
}

// Whether the request goes to the server of a provider with a name of its own.
bool goes_to_own_server(const Settings& settings, const NamedProvider& provider,
                        const std::string& url) {
  if (provider.is_kind()) {
    return false;
  }
  const auto section = settings.providers.find(provider.name);
  return http::is_same_server(section == settings.providers.end()
                                  ? provider.default_url
                                  : section->second.base_url.value_or(provider.default_url),
                              url);
}

// The provider's section, then the tops of the files, then all other sections, unless the request
// goes to the provider's own server: another section may be somebody else's account there.
std::vector<SetKey> set_keys(const Settings& settings, const NamedProvider& provider,
                             const std::string& url) {
  std::vector<SetKey> keys;
  std::vector<SetKey> others;
  for (const auto& [name, section] : settings.providers) {
    const auto named = find_provider(settings, name);
    if (has_key(section) && named && shares_keys(*named, provider)) {
      auto& list = named->name == provider.name ? keys : others;
      list.push_back({&section, server_of_key(section, *named), cat("[providers.", name, "]")});
    }
  }
  for (const TopSettings& top : settings.tops | std::views::reverse) {
    if (!has_key(top.own)) {
      continue;
    }
    const auto named = top.provider ? find_provider(settings, *top.provider) : std::nullopt;
    if (!top.provider) {
      keys.push_back({&top.own, top.own.key_url, top.from});
    } else if (named && shares_keys(*named, provider)) {
      keys.push_back({&top.own, server_of_key(top.own, *named), top.from});
    }
  }
  if (!goes_to_own_server(settings, provider, url)) {
    keys.insert(keys.end(), others.begin(), others.end());
  }
  return keys;
}

std::string description(const SetKey& set) {
  const std::string name =
      cat(set.settings->env_key ? "env_key" : "key_command", " of ", set.where);
  return set.url.empty()
             ? cat(name, " is set without a provider: set provider or base_url in the same place")
             : cat(name, " belongs to ", http::host_of(set.url));
}

// The provider's default variable may be unset, as a server may need no key.
Result<std::string> read_key(const ProcessEnvironment& environment,
                             const ProviderSettings& settings, const NamedProvider& provider) {
  if (!settings.env_key) {
    return run_key_command(settings.key_command.value_or(""));
  }
  if (auto key = environment.find(*settings.env_key)) {
    return *std::move(key);
  }
  if (settings.env_key == provider.key_variable) {
    return "";
  }
  return fail(Code::unauthorized,
              cat("no key: the variable ", *settings.env_key,
                  " named by env_key is not set: export ", *settings.env_key, "=…"));
}

struct Variable {
  std::string name;
  std::string url;  // the server that the key is for
};

std::vector<Variable> key_variables(const ProcessEnvironment& environment,
                                    const NamedProvider& provider, const std::string& url) {
  std::vector<Variable> out;
  if (!provider.is_kind()) {
    out.push_back({provider.key_variable, provider.default_url});
  }
  if (const auto known = find_provider_at(*provider.kind, url)) {
    out.push_back({known->key_variable, known->default_url});
  }
  const std::string base(provider.kind->url_variable);
  out.push_back({std::string(provider.kind->key_variable),
                 environment.find(base).value_or(std::string(provider.kind->default_url))});
  return out;
}

}  // namespace

Result<FoundKey> find_key(const ProcessEnvironment& environment, const Settings& settings,
                          const NamedProvider& provider, const std::string& url) {
  FoundKey found;
  const auto note = [&found](std::string_view text) {
    found.hint += cat(found.hint.empty() ? "" : ", ", text);
  };
  for (const SetKey& set : set_keys(settings, provider, url)) {
    if (http::is_same_server(set.url, url)) {
      REPRISE_ASSIGN(found.key, read_key(environment, *set.settings, provider));
      found.name = set.settings->env_key ? *set.settings->env_key : "the output of key_command";
      return found;
    }
    note(description(set));
  }
  for (const Variable& variable : key_variables(environment, provider, url)) {
    auto key = variable.name.empty() ? std::nullopt : environment.find(variable.name);
    if (!key) {
      continue;
    }
    if (http::is_same_server(variable.url, url)) {
      found.key = *std::move(key);
      found.name = variable.name;
      return found;
    }
    note(cat(variable.name, " belongs to ", http::host_of(variable.url)));
  }
  return found;
}

bool is_safe_for_secrets(std::string_view url) {
  return !ascii_lower(url).starts_with("http://") || http::is_local_url(http::server_of(url));
}

}  // namespace reprise::cli
