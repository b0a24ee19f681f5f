#include "choice/candidates.h"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <set>
#include <utility>

#include "base/http.h"
#include "base/text.h"
#include "choice/provider_names.h"
#include "session/session_config.h"

namespace reprise::choice {
namespace {

using SettingMember = std::optional<std::string> ProviderSettings::*;

bool is_called(const Settings& settings, std::string_view name, const NamedProvider& provider) {
  const auto named = find_provider(settings, name);
  return named && named->name == provider.name;
}

// The value in the provider's own section, else at the top of a file. The latter belongs to the
// provider named beside it, or else to the provider of the settings.
std::optional<Candidate> setting(const Settings& settings, const NamedProvider& provider,
                                 SettingMember member) {
  for (const auto& [name, section] : settings.providers) {
    const auto& value = section.*member;
    if (value && is_called(settings, name, provider)) {
      return Candidate{.from = From::section, .value = *value};
    }
  }
  for (const TopSettings& top : settings.tops | std::views::reverse) {
    const auto& whose = top.provider ? top.provider : settings.provider;
    const auto& value = top.own.*member;
    if (value && (!whose || is_called(settings, *whose, provider))) {
      return Candidate{.from = From::top, .value = *value};
    }
  }
  return std::nullopt;
}

// "" if the session names neither a known provider nor a server.
std::string sessions_provider(const Sources& from, const Wanted& wanted) {
  const Session* const session = session_of(from);
  if (session == nullptr) {
    return "";
  }
  const std::string& written = session->info.provider;
  if (const auto own = find_provider(from.settings, written)) {
    return own->kind->has_server() || !wanted.base_url ? own->name : "";
  }
  if (written.empty()) {
    return std::string(provider_of_model(session->info.model));
  }
  // A name of other settings: the stored URL names the server.
  return stored_base_url(*session).empty() ? "" : std::string(kCompatibleKind);
}

// The usual server of new sessions.
Candidate usual_server(const Sources& from, const NamedProvider& provider) {
  if (auto set = setting(from.settings, provider, &ProviderSettings::base_url)) {
    return *std::move(set);
  }
  if (!provider.is_kind()) {
    return {.from = From::builtin, .value = provider.default_url};
  }
  auto set = from.variable(provider.kind->url_variable);
  return set ? Candidate{.from = From::variable, .value = *std::move(set)}
             : Candidate{.from = From::builtin, .value = ""};
}

// The URL of the same server in any section or among the well-known servers. A stored URL is found
// again by what was stored of it.
std::optional<Candidate> configured_server(const Sources& from, const NamedProvider& provider,
                                           const std::string& url) {
  std::optional<Candidate> found;
  for (const auto& [name, section] : from.settings.providers) {
    const auto named = find_provider(from.settings, name);
    if (named && named->kind == provider.kind && section.base_url &&
        http::is_same_server(*section.base_url, url) &&
        (!found || http::masked_url(*section.base_url) == url)) {
      found = {.from = From::other_section, .value = *section.base_url};
    }
  }
  const auto known = find_provider_at(*provider.kind, url);
  if (!found && known) {
    found = {.from = From::builtin, .value = known->default_url};
  }
  return found;
}

// The server on this machine that the settings name instead of the session's, for the usual
// provider: sessions name only the protocol, so it may be that one.
std::optional<Candidate> usual_local_server(const Sources& from, const NamedProvider& provider) {
  const auto usual =
      from.settings.provider ? find_provider(from.settings, *from.settings.provider) : std::nullopt;
  if (!usual || usual->kind != provider.kind) {
    return std::nullopt;
  }
  auto set = setting(from.settings, *usual, &ProviderSettings::base_url);
  return set && http::is_local_url(http::server_of(set->value)) ? std::move(set) : std::nullopt;
}

// Sessions store URLs without the secrets in them.
bool lacks_secret(const std::string& stored_url) {
  return std::ranges::any_of(http::secrets_in_url(stored_url),
                             [](std::string_view secret) { return secret == "***"; });
}

// openai-chat and openai-responses, for example, share keys.
bool shares_keys(const NamedProvider& a, const NamedProvider& b) {
  return a.kind->key_variable == b.kind->key_variable;
}

// The key of a section, or of the top of a file; it belongs to the server beside it, else to the
// provider's own, "" for neither.
void add_key(std::vector<Candidate>& out, From from, const ProviderSettings& set,
             const std::string& own_server, std::string_view place) {
  if (set.env_key || set.key_command) {
    out.push_back({.from = from,
                   .value = set.env_key.value_or(set.key_command.value_or("")),
                   .belongs_to = set.key_url.empty() ? own_server : set.key_url,
                   .where = cat(set.env_key ? "env_key" : "key_command", " of ", place),
                   .is_command = !set.env_key});
  }
}

// Whether the request goes to the server of a provider with a name of its own.
bool goes_to_own_server(const Settings& settings, const NamedProvider& provider,
                        const std::string& server) {
  const auto section = settings.providers.find(provider.name);
  const std::string own = section == settings.providers.end()
                              ? provider.default_url
                              : section->second.base_url.value_or(provider.default_url);
  return !provider.is_kind() && http::is_same_server(own, server);
}

// If it is set.
void add_variable(std::vector<Candidate>& out, const Sources& from, std::string_view name,
                  std::string_view server) {
  if (!name.empty() && from.variable(name)) {
    out.push_back({.from = From::variable,
                   .value = std::string(name),
                   .belongs_to = std::string(server),
                   .where = std::string(name)});
  }
}

// The servers that [providers.NAME] describes, in the protocol of `choice`.
std::vector<Candidate> servers_of_section(const Sources& from, const Wanted& wanted,
                                          const ProviderChoice& choice, std::string_view section) {
  std::vector<Candidate> out;
  const auto add = [&](From place, std::string_view server) {
    out.push_back(
        {.from = place, .value = std::string(section), .belongs_to = std::string(server)});
  };
  const ProviderKind* const kind = find_provider_kind(choice.kind);
  const auto own = from.settings.providers.find(section);
  const std::string url = own == from.settings.providers.end()
                              ? std::string()
                              : own->second.base_url.value_or(std::string());
  if (!url.empty()) {
    const bool fits = find_provider_kind(section) != nullptr
                          ? section == choice.kind
                          : own->second.protocol.value_or(choice.kind) == choice.kind;
    add(From::section, fits ? url : "");
    return out;
  }
  if (const auto named = find_provider(from.settings, section); named && !named->is_kind()) {
    add(From::builtin, named->kind == kind ? named->default_url : "");
    return out;
  }
  if (section == choice.kind && kind != nullptr && !wanted.base_url) {
    add(From::builtin, kind->default_url);
    add(From::variable, from.variable(kind->url_variable).value_or(""));
    add(From::top, from.settings.any().base_url.value_or(""));
  }
  return out;
}

}  // namespace

bool may_use(const Candidate& candidate, std::string_view server) {
  return candidate.is_trusted &&
         (!candidate.belongs_to || http::is_same_server(*candidate.belongs_to, server));
}

const Session* session_of(const Sources& from) {
  return from.settings.context_file.empty() ? from.session : nullptr;
}

bool is_own_server(const ProviderKind& kind, std::string_view base_url) {
  return base_url.empty() ||
         ascii_lower(http::host_of(base_url)) == http::host_of(kind.default_url);
}

bool is_sessions_own(const Sources& from, const Wanted& wanted, const NamedProvider& provider) {
  return sessions_provider(from, wanted) == provider.name;
}

std::string sessions_server(const Sources& from, const Wanted& wanted,
                            const NamedProvider& provider) {
  return is_sessions_own(from, wanted, provider) ? stored_base_url(*from.session) : "";
}

std::vector<Candidate> provider_candidates(const Sources& from, const Wanted& wanted) {
  if (wanted.provider) {
    return {{.from = From::flag, .value = *wanted.provider}};
  }
  std::vector<Candidate> out;
  if (std::string own = sessions_provider(from, wanted); !own.empty()) {
    const bool is_guess = from.session->info.provider.empty();
    out.push_back({.from = is_guess ? From::guess : From::session, .value = std::move(own)});
  }
  if (from.settings.provider && !wanted.base_url) {
    const auto origin = from.settings.origin.find("provider");
    out.push_back({.from = From::top,
                   .value = *from.settings.provider,
                   .where = origin == from.settings.origin.end() ? "" : origin->second});
  }
  const auto names_a_server = [](const TopSettings& top) {
    return !top.provider && top.own.base_url;
  };
  if (wanted.base_url || std::ranges::any_of(from.settings.tops, names_a_server)) {
    out.push_back({.from = From::builtin, .value = std::string(kCompatibleKind)});
  }
  for (const ProviderKind& kind : provider_kinds() | std::views::reverse) {
    if (!kind.selecting_variable.empty() && from.variable(kind.selecting_variable)) {
      out.push_back({.from = From::variable, .value = std::string(kind.name)});
    }
  }
  out.push_back({.from = From::found, .value = ""});
  return out;
}

std::vector<Candidate> server_candidates(const Sources& from, const Wanted& wanted,
                                         const NamedProvider& provider) {
  if (wanted.base_url) {
    return {{.from = From::flag, .value = *wanted.base_url}};
  }
  const Candidate usual = usual_server(from, provider);
  const auto section = from.settings.providers.find(provider.name);
  if (section != from.settings.providers.end() && !section->second.refusal.empty()) {
    return {{.from = usual.from,
             .value = usual.value,
             .where = section->second.refusal,
             .is_trusted = false}};
  }
  Candidate sessions{.from = From::session, .value = sessions_server(from, wanted, provider)};
  if (sessions.value.empty()) {
    return {usual};
  }
  std::vector<Candidate> out;
  const auto add = [&out](std::optional<Candidate> candidate) {
    if (candidate) {
      out.push_back(*std::move(candidate));
    }
  };
  const auto configured = configured_server(from, provider, sessions.value);
  const bool is_local = http::is_local_url(http::server_of(sessions.value));
  if (is_local && !lacks_secret(sessions.value)) {
    if (!configured) {
      add(setting(from.settings, provider, &ProviderSettings::base_url));
      add(usual_local_server(from, provider));
    }
    const bool is_own = from.was_given && from.was_given(sessions.value);
    add(is_own ? std::optional(sessions) : configured);
    add(usual);
    return out;
  }
  // The session may come from somebody else, so the settings must name the server, too.
  if (http::is_same_server(sessions.value, usual.value)) {
    add(usual);
  }
  add(configured);
  if (is_local) {
    sessions.is_trusted = false;
    sessions.where = cat("the key in the URL of ", http::host_of(sessions.value),
                         " was not stored; give --base-url, or set base_url in the settings");
    add(sessions);
  } else {
    add(usual);
  }
  return out;
}

// The provider's section, then the tops of the files, then all other sections, unless the request
// goes to the provider's own server, where another section may be somebody else's account; then
// variables.
std::vector<Candidate> key_candidates(const Sources& from, const NamedProvider& provider,
                                      const std::string& server) {
  std::vector<Candidate> out;
  std::vector<Candidate> others;
  for (const auto& [name, section] : from.settings.providers) {
    const auto named = find_provider(from.settings, name);
    if (named && shares_keys(*named, provider)) {
      const bool is_own = named->name == provider.name;
      add_key(is_own ? out : others, is_own ? From::section : From::other_section, section,
              named->default_url, cat("[providers.", name, "]"));
    }
  }
  for (const TopSettings& top : from.settings.tops | std::views::reverse) {
    const auto named = top.provider ? find_provider(from.settings, *top.provider) : std::nullopt;
    if (!top.provider || (named && shares_keys(*named, provider))) {
      add_key(out, From::top, top.own, named ? named->default_url : "", top.from);
    }
  }
  if (!goes_to_own_server(from.settings, provider, server)) {
    std::ranges::move(others, std::back_inserter(out));
  }
  if (!provider.is_kind()) {
    add_variable(out, from, provider.key_variable, provider.default_url);
  }
  if (const auto known = find_provider_at(*provider.kind, server)) {
    add_variable(out, from, known->key_variable, known->default_url);
  }
  add_variable(
      out, from, provider.kind->key_variable,
      from.variable(provider.kind->url_variable).value_or(std::string(provider.kind->default_url)));
  return out;
}

std::string server_of(const ProviderChoice& choice) {
  const ProviderKind* const kind = find_provider_kind(choice.kind);
  return choice.options.base_url.empty() && kind != nullptr ? std::string(kind->default_url)
                                                            : choice.options.base_url;
}

std::vector<Candidate> section_candidates(const Sources& from, const Wanted& wanted,
                                          const ProviderChoice& choice) {
  const std::string server = server_of(choice);
  // A provider that was chosen by its own name has only its own section, even if others describe
  // the same server.
  auto own = servers_of_section(from, wanted, choice, choice.name);
  if (find_provider_kind(choice.name) == nullptr &&
      std::ranges::any_of(own, [&](const Candidate& one) { return may_use(one, server); })) {
    return own;
  }
  std::set<std::string_view> names;
  std::ranges::copy(from.settings.providers | std::views::keys, std::inserter(names, names.end()));
  std::ranges::copy(from.settings.requests | std::views::keys, std::inserter(names, names.end()));
  names.erase("");
  std::vector<Candidate> out;
  for (const std::string_view name : names) {
    std::ranges::move(servers_of_section(from, wanted, choice, name), std::back_inserter(out));
  }
  return out;
}

std::vector<Candidate> model_candidates(const Sources& from, const Wanted& wanted,
                                        const NamedProvider& provider,
                                        const ProviderChoice& choice) {
  if (wanted.model) {
    return {{.from = From::flag, .value = *wanted.model}};
  }
  std::vector<Candidate> out;
  const auto add = [&out](From place, std::string_view model) {
    if (!model.empty()) {
      out.push_back({.from = place, .value = std::string(model)});
    }
  };
  const std::string& url = choice.options.base_url;
  const Session* const session = wanted.dev ? nullptr : session_of(from);
  std::string sessions;
  bool is_moved = false;  // from the provider's own server to one of the settings
  if (session != nullptr) {
    // Without a provider in the session, the server may have any model, unless it has its own.
    const bool is_open = session->info.provider.empty() && !url.empty() &&
                         !http::is_same_server(url, provider.kind->default_url) &&
                         !find_provider_at(*provider.kind, url);
    sessions = choice.is_sessions_own || is_open ? session->info.model : "";
    is_moved = choice.is_sessions_own && !wanted.base_url && stored_base_url(*session).empty() &&
               !http::is_same_server(server_of(choice), provider.default_url);
  }
  if (!is_moved) {
    add(From::session, sessions);
  }
  if (!wanted.dev) {
    add(From::mode, wanted.mode_model);
  }
  const auto set = setting(from.settings, provider,
                           wanted.dev ? &ProviderSettings::dev_model : &ProviderSettings::model);
  add(set ? set->from : From::top, set ? set->value : "");
  if (is_moved) {
    add(From::session, sessions);
  }
  if (is_own_server(*provider.kind, url)) {
    add(From::builtin, wanted.dev ? provider.kind->dev_model : provider.kind->default_model);
  }
  return out;
}

}  // namespace reprise::choice
