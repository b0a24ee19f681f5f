#include "choice/resolve.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/command_line.h"
#include "base/http.h"
#include "base/text.h"
#include "choice/provider_names.h"
#include "provider/request_options.h"
#include "provider/secret_mask.h"

namespace reprise::choice {
namespace {

struct FoundKey {
  std::string key;        // "" for none
  std::string name = {};  // its origin: "OPENAI_API_KEY"
  std::string hint;       // "the key_command of FILE belongs to HOST"; "" if there is no other key
};

const Candidate* find_usable(const std::vector<Candidate>& candidates, std::string_view server) {
  const auto usable = std::ranges::find_if(
      candidates, [&](const Candidate& candidate) { return may_use(candidate, server); });
  return usable == candidates.end() ? nullptr : &*usable;
}

// The provider's default variable may be unset, as a server may need no key.
Result<std::string> read_key(const Sources& from, const Candidate& candidate,
                             const NamedProvider& provider) {
  if (candidate.is_command) {
    return from.run_key_command
               ? from.run_key_command(candidate.value)
               : fail(Code::unsupported, cat("the ", candidate.where, " cannot be run here"));
  }
  if (auto key = from.variable(candidate.value)) {
    return *std::move(key);
  }
  if (candidate.value == provider.key_variable) {
    return "";
  }
  return fail(Code::unauthorized,
              cat("no key: the variable ", candidate.value, " named by env_key is not set: export ",
                  candidate.value, "=…"));
}

Result<FoundKey> find_key(const Sources& from, const NamedProvider& provider,
                          const std::string& server) {
  FoundKey found;
  for (const Candidate& candidate : key_candidates(from, provider, server)) {
    if (may_use(candidate, server)) {
      REPRISE_ASSIGN(found.key, read_key(from, candidate, provider));
      found.name = candidate.is_command ? "the output of key_command" : candidate.value;
      break;
    }
    const std::string owner = http::host_of(candidate.belongs_to.value_or(""));
    found.hint += cat(found.hint.empty() ? "" : ", ", candidate.where,
                      owner.empty() ? " is set without a provider: set provider or base_url in the "
                                      "same place"
                                    : cat(" belongs to ", owner));
  }
  return found;
}

// Azure's servers expect the key in their own header.
bool uses_azure_header(std::string_view url) {
  const std::string server = http::server_of(url);
  const std::string_view host = std::string_view(server).substr(0, server.rfind(':'));
  return host.ends_with(".openai.azure.com") || host.ends_with(".cognitiveservices.azure.com");
}

// A missing key is an error for the provider's own server only.
Result<> check_key_optional(const Sources& from, const NamedProvider& provider,
                            const std::string& server, const FoundKey& found,
                            ProviderOptions& options) {
  const std::string hint = found.hint.empty() ? "" : cat("; ", found.hint);
  const auto known = find_provider_at(*provider.kind, server);
  const std::string& variable = known ? known->key_variable : provider.key_variable;
  const std::string& own = known ? known->default_url : provider.default_url;
  if (!variable.empty() && http::is_same_server(server, own)) {
    return fail(
        Code::unauthorized,
        cat("no key for ", known ? known->name : provider.name, ": set ", variable,
            ", or env_key or key_command in the settings; `--provider echo` needs none", hint));
  }
  const bool is_variables_server =
      provider.is_kind() &&
      http::is_same_server(from.variable(provider.kind->url_variable).value_or(""), server);
  if (!from.settings.keyless_server.empty() &&
      http::is_same_server(from.settings.keyless_server, server)) {
    options.key_advice =
        cat("to send it ", provider.key_variable, ", run `",
            shell_command({"config", "trust", from.settings.keyless_folder}), "`", hint);
    return {};
  }
  options.key_advice =
      cat(is_variables_server ? cat("set ", provider.key_variable)
                              : "set base_url and env_key in a [providers.NAME] of the settings",
          hint);
  return {};
}

// Whether data sent there is encrypted or stays on this machine.
bool is_safe_for_secrets(std::string_view url) {
  return !ascii_lower(url).starts_with("http://") || http::is_local_url(http::server_of(url));
}

Result<> check_encrypted(const Sources& from, const Wanted& wanted, std::string_view secret,
                         std::string_view url) {
  if (is_safe_for_secrets(url) || wanted.allows_clear_text ||
      from.settings.insecure.value_or(false)) {
    return {};
  }
  return fail(Code::unauthorized, cat("the ", secret, " would be sent unencrypted to ",
                                      http::host_of(url), "; use https, or --insecure"));
}

Result<> choose_server(const Sources& from, const Wanted& wanted, const NamedProvider& provider,
                       ProviderChoice& choice) {
  const std::vector<Candidate> candidates = server_candidates(from, wanted, provider);
  const Candidate* const chosen = find_usable(candidates, "");
  if (chosen == nullptr) {
    return fail(Code::unauthorized, candidates.back().where);
  }
  choice.options.base_url = trimmed(chosen->value);
  const std::string server = server_of(choice);
  const std::string previous = sessions_server(from, wanted, provider);
  if (!previous.empty() && chosen->from != From::flag && !http::is_same_server(previous, server)) {
    choice.warnings.push_back(cat("the session used ", http::host_of(previous), "; ",
                                  http::host_of(server),
                                  " continues it; --base-url or the setting base_url selects the "
                                  "previous server"));
  }
  return {};
}

// `unusable`: see choose_named().
Result<> choose_key(const Sources& from, const Wanted& wanted, const NamedProvider& provider,
                    ProviderChoice& choice, std::string_view& unusable) {
  const std::string server = server_of(choice);
  ProviderOptions& options = choice.options;
  REPRISE_ASSIGN(FoundKey found, find_key(from, provider, server));
  options.api_key = std::move(found.key);
  options.key_advice = found.name.empty() ? "" : cat("check the key in ", found.name);
  if (options.api_key.empty()) {
    auto allowed = check_key_optional(from, provider, server, found, options);
    unusable = allowed ? "" : "for which there is no key";
    REPRISE_TRY(std::move(allowed));
  } else if (uses_azure_header(server)) {
    options.auth = "api-key";
  }
  return options.api_key.empty() && http::masked_url(server) == server
             ? Result<>()
             : check_encrypted(from, wanted, "key", server);
}

bool is_away(const Error& error) {
  return error.os_errno == ECONNREFUSED || error.os_errno == EHOSTUNREACH;
}

// The model of a server that has to be asked.
Result<std::string> offered_model(const Sources& from, const ProviderKind& kind, bool dev,
                                  ProviderChoice& choice) {
  const std::string& url = choice.options.base_url;
  std::string usual = default_model(kind, dev, url, {});
  if (!from.models) {
    choice.notices.push_back(
        cat("no model is set: ", http::host_of(url), " would be asked for one"));
    return usual;
  }
  REPRISE_ASSIGN(const auto provider, make_provider(choice.kind, choice.options));
  const auto offered = from.models(*provider);
  if (!offered || offered->empty()) {
    if (offered || !is_away(offered.error())) {  // else the request reports it
      choice.notices.push_back(cat("no model is set, and ", http::host_of(url),
                                   offered ? " lists none"
                                   : offered.error().code == Code::timeout
                                       ? " did not list its models in time"
                                       : " did not list its models",
                                   ": trying ", usual, "; --model names another"));
    }
    return usual;
  }
  std::string model = default_model(kind, dev, url, *offered);
  if (model != usual) {
    choice.notices.push_back(cat("using ", model,
                                 offered->size() == 1
                                     ? std::string(", the only model of ")
                                     : cat(", the first of ", offered->size(), " models of "),
                                 http::host_of(url), "; --model names another"));
  }
  return model;
}

Result<std::string> choose_model(const Sources& from, const Wanted& wanted,
                                 const NamedProvider& provider, ProviderChoice& choice) {
  const std::string& url = choice.options.base_url;
  if (const auto candidates = model_candidates(from, wanted, provider, choice);
      const Candidate* const chosen = find_usable(candidates, url)) {
    return chosen->value;
  }
  // Well-known servers offer too many models to pick one.
  if (find_provider_at(*provider.kind, url) && !http::is_local_url(url)) {
    return fail(Code::invalid_argument,
                cat("no model for ", provider.name, ": give --model, or set model in [providers.",
                    provider.name, "]"));
  }
  return offered_model(from, *provider.kind, wanted.dev, choice);
}

std::unexpected<Error> unknown(const Settings& settings, const Candidate& candidate) {
  const std::string& name = candidate.value;
  return fail(
      Code::invalid_argument,
      settings.providers.contains(name)
          ? cat("[providers.", name, "] has no base_url: add it with `",
                shell_command({"config", "set", cat("providers.", name, ".base_url"), "URL"}), "`")
          : unknown_provider(name, candidate.where));
}

// Whether the provider's own server is one on this machine that nobody has set or given, and that
// does not respond. Unknown if nothing is to be sent.
bool is_absent(const Sources& from, const NamedProvider& provider, const ProviderChoice& choice) {
  const std::string& url = choice.options.base_url;
  if (provider.is_kind() || url != provider.default_url || !http::is_local_url(server_of(choice)) ||
      from.settings.providers.contains(provider.name) || (from.was_given && from.was_given(url)) ||
      !from.local_servers || !from.models) {
    return false;
  }
  return std::ranges::none_of(from.local_servers(), [&](const LocalServer& server) {
    return http::is_same_server(server.base_url, url);
  });
}

// `unusable`: why this provider cannot be used here, as far as another one may take its place; ""
// if it can be used, or the error is one that must not be passed over.
Result<ProviderChoice> choose_named(const Sources& from, const Wanted& wanted,
                                    const Candidate& candidate, std::string_view& unusable) {
  const auto provider = find_provider(from.settings, candidate.value);
  if (!provider) {
    return unknown(from.settings, candidate);
  }
  ProviderChoice choice{.kind = std::string(provider->kind->name),
                        .name = provider->name,
                        .is_sessions_own = is_sessions_own(from, wanted, *provider)};
  if (provider->kind->has_server()) {
    REPRISE_TRY(choose_server(from, wanted, *provider, choice));
    if (auto key = choose_key(from, wanted, *provider, choice, unusable); !key) {
      Error error = std::move(key).error();
      for (const std::string& warning : choice.warnings) {
        error.message += cat("; ", warning);  // why the request goes there
      }
      return std::unexpected(std::move(error));
    }
    if (candidate.from == From::session && is_absent(from, *provider, choice)) {
      unusable = "which does not respond";
    }
  }
  REPRISE_ASSIGN(choice.model, choose_model(from, wanted, *provider, choice));
  return choice;
}

// A local server that has the model, or else any. not_found names the alternatives.
Result<ProviderChoice> choose_local(const Sources& from, const Wanted& wanted) {
  const Session* const session = session_of(from);
  const std::string model = wanted.model.value_or(session == nullptr ? "" : session->info.model);
  const std::vector<LocalServer> servers =
      from.local_servers ? from.local_servers() : std::vector<LocalServer>();
  const auto has_model = [&](const LocalServer& server) {
    return std::ranges::find(server.models, model) != server.models.end();
  };
  auto usable = std::ranges::find_if(servers, has_model);
  if (usable == servers.end()) {
    usable = std::ranges::find_if(servers, [&](const LocalServer& server) {
      return wanted.model.has_value() || !server.models.empty();
    });
  }
  if (usable == servers.end()) {
    return fail(Code::not_found,
                cat("no provider: run `reprise setup`, or set ", key_variables(" or "),
                    ", or start a local server such as Ollama, or try `--provider echo`, which "
                    "needs no key and no server"));
  }
  const auto known = find_provider_at(*find_provider_kind(kCompatibleKind), usable->base_url);
  ProviderChoice choice{
      .kind = std::string(kCompatibleKind),
      .name = known ? known->name : std::string(kCompatibleKind),
      .model = wanted.model || has_model(*usable) ? model : usable->models.front()};
  choice.options.base_url = usable->base_url;
  choice.notices.push_back(
      choice.model.empty()
          ? cat("asking ", usable->name, " at ", usable->base_url)
          : cat("using ", choice.model, " on ", usable->name, " at ", usable->base_url));
  return choice;
}

// Says that an untrusted project chose the provider, and that the conversation continues with
// another provider or model; `unusable`: why not with the session's own.
void warn_of_usual(const Sources& from, const Wanted& wanted, std::string_view unusable,
                   ProviderChoice& choice) {
  const Settings& settings = from.settings;
  if (!wanted.base_url && settings.is_untrusted("provider")) {
    choice.warnings.push_back(cat(settings.untrusted_file, " chooses the provider ",
                                  settings.provider.value_or(""),
                                  ", and its folder is not trusted"));
  }
  const Session* const session = session_of(from);
  if (session == nullptr) {
    return;
  }
  const std::string& model = session->info.model;
  const std::string& previous = session->info.provider;
  if (unusable.empty() &&
      (wanted.model || model.empty() || (previous.empty() && model == choice.model))) {
    return;
  }
  choice.warnings.push_back(cat("the session used ", model,
                                model.empty() || previous.empty() ? "" : " of ", previous,
                                unusable.empty() ? "" : ", ", unusable, "; ", choice.model,
                                choice.model.empty() ? "" : " of ", choice.name, " continues it"));
}

void add_to_provider(ProviderOptions& out, const RequestSettings& section) {
  out.path = section.path.value_or(out.path);
  out.auth = section.auth.value_or(out.auth);
  out.auth_header = section.auth_header.value_or(out.auth_header);
  for (const auto& [name, value] : section.headers) {
    out.headers.emplace_back(name, value);
  }
  if (!section.extra.is_null()) {
    out.extra = section.extra;
  }
  out.good_ends.insert(out.good_ends.end(), section.good_ends.begin(), section.good_ends.end());
}

}  // namespace

std::string default_model(const ProviderKind& kind, bool dev, std::string_view base_url,
                          const std::vector<ModelInfo>& offered) {
  const std::string_view model = dev ? kind.dev_model : kind.default_model;
  const bool is_offered = std::ranges::find(offered, model, &ModelInfo::id) != offered.end();
  return !is_offered && !offered.empty() && !is_own_server(kind, base_url) ? offered.front().id
                                                                           : std::string(model);
}

Result<ProviderChoice> resolve(const Sources& from, const Wanted& wanted) {
  std::optional<Result<ProviderChoice>> own;  // the session's, if it cannot be used
  std::string_view reason;
  for (const Candidate& candidate : provider_candidates(from, wanted)) {
    if (!may_use(candidate, "")) {
      continue;
    }
    std::string_view unusable;
    auto choice = candidate.from == From::found ? choose_local(from, wanted)
                                                : choose_named(from, wanted, candidate, unusable);
    if (candidate.from == From::session && !unusable.empty()) {
      own = std::move(choice);
      reason = unusable;
      continue;
    }
    // The model's name is only a hint: if that provider has no key, the usual provider is used.
    if (candidate.from == From::guess && !choice && choice.error().code == Code::unauthorized) {
      continue;
    }
    if (choice && candidate.from != From::flag && candidate.from != From::session &&
        candidate.from != From::guess) {
      warn_of_usual(from, wanted, reason, *choice);
    }
    return choice || !own ? choice : *std::move(own);
  }
  return choose_local(from, wanted);
}

Result<ProviderChoice> expected(const Sources& from) {
  const Wanted nothing;
  const Candidate candidate = provider_candidates(from, nothing).front();
  if (candidate.from == From::found) {
    return ProviderChoice();
  }
  const auto provider = find_provider(from.settings, candidate.value);
  if (!provider) {
    return unknown(from.settings, candidate);
  }
  ProviderChoice choice{.kind = std::string(provider->kind->name), .name = provider->name};
  if (provider->kind->has_server()) {
    choice.options.base_url = server_candidates(from, nothing, *provider).front().value;
  }
  const auto models = model_candidates(from, nothing, *provider, choice);
  choice.model = models.empty() ? "" : models.front().value;
  return choice;
}

bool expects_server(const Sources& from, const Wanted& wanted) {
  const auto* const kind = find_provider_kind(provider_candidates(from, wanted).front().value);
  return kind == nullptr || kind->has_server();
}

std::string usual_model(const Sources& from, const Wanted& wanted, const ProviderChoice& choice,
                        const std::vector<ModelInfo>& offered) {
  auto provider = find_provider(from.settings, provider_candidates(from, wanted).front().value);
  if (!provider || provider->kind->name != choice.kind) {
    provider = find_provider(from.settings, choice.name);
  }
  if (!provider) {  // `choice` is already a known provider
    return choice.model;
  }
  for (const Candidate& candidate : model_candidates(from, wanted, *provider, choice)) {
    if (candidate.from != From::builtin) {
      return candidate.value;
    }
  }
  return default_model(*provider->kind, wanted.dev, choice.options.base_url, offered);
}

Result<RequestOptions> apply_sections(const Sources& from, const Wanted& wanted,
                                      ProviderChoice& choice) {
  const Settings& settings = from.settings;
  RequestOptions out;
  if (const auto all = settings.requests.find(""); all != settings.requests.end()) {
    out = all->second.options;
  }
  const std::string server = server_of(choice);
  const auto candidates = section_candidates(from, wanted, choice);
  const auto applies = [&](std::string_view name) {
    return std::ranges::any_of(candidates, [&](const Candidate& candidate) {
      return candidate.value == name && may_use(candidate, server);
    });
  };
  if (const auto general = settings.requests.find(choice.kind);
      general != settings.requests.end() && !applies(choice.kind)) {
    const RequestSettings& section = general->second;
    provider::overlay(out, section.options);
    if (!section.headers.empty() || section.auth || !section.extra.is_null()) {
      choice.warnings.push_back(cat("headers, extra and auth of [providers.", choice.kind,
                                    "] are not sent to ", http::host_of(choice.options.base_url)));
    }
    if (section.path || section.auth_header || !section.good_ends.empty()) {
      choice.warnings.push_back(cat("path, auth_header and good_ends of [providers.", choice.kind,
                                    "] are not used for ", http::host_of(choice.options.base_url)));
    }
  }
  for (const auto& [name, section] : settings.requests) {
    if (!name.empty() && applies(name)) {
      provider::overlay(out, section.options);
      add_to_provider(choice.options, section);
    }
  }
  for (const auto& [name, section] : settings.providers) {
    if (section.store && applies(name)) {
      choice.options.store = section.store;
    }
  }
  // They were added by the user and may be secrets.
  for (const auto& [field, has_secret] :
       {std::pair("headers", !provider::secrets_in(choice.options.headers).empty()),
        std::pair("extra", !provider::secrets_in(choice.options.extra).empty())}) {
    if (has_secret) {
      REPRISE_TRY(check_encrypted(from, wanted, cat("secret in ", field), choice.options.base_url));
    }
  }
  return out;
}

ProviderOptions provider_options(const Settings& settings, const ProviderChoice& choice) {
  ProviderOptions options = choice.options;
  options.answer_bytes_max = settings.max_answer_bytes.value_or(options.answer_bytes_max);
  const auto own = settings.providers.find(choice.kind);
  if (!options.store && own != settings.providers.end()) {
    options.store = own->second.store;
  }
  return options;
}

}  // namespace reprise::choice
