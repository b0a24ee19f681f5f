#include "cli/provider_choice.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <ranges>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/http.h"
#include "base/json_scan.h"
#include "base/text.h"
#include "cli/context.h"
#include "cli/process_environment.h"
#include "cli/provider_key.h"
#include "cli/provider_names.h"
#include "cli/run_flags.h"
#include "cli/settings.h"
#include "reprise/error.h"
#include "reprise/provider.h"
#include "reprise/session.h"

namespace reprise::cli {
namespace {

constexpr std::chrono::milliseconds kLocalServerTimeout{300};
constexpr std::chrono::milliseconds kServerModelsTimeout{3'000};

using Slot = std::optional<std::string> ProviderSettings::*;

bool is_called(const Settings& settings, std::string_view name, const NamedProvider& provider) {
  const auto named = find_provider(settings, name);
  return named && named->name == provider.name;
}

// The provider's own section first; the keys at the top of a file belong to the provider named
// beside them, and without one to the provider of the settings.
std::optional<std::string> setting(const Settings& settings, const NamedProvider& provider,
                                   Slot slot) {
  for (const auto& [name, section] : settings.providers) {
    if (section.*slot && is_called(settings, name, provider)) {
      return section.*slot;
    }
  }
  for (const TopSettings& top : settings.tops | std::views::reverse) {
    const auto& whose = top.provider ? top.provider : settings.provider;
    if (top.own.*slot && (!whose || is_called(settings, *whose, provider))) {
      return top.own.*slot;
    }
  }
  return std::nullopt;
}

// Where the session was held, when that was not the provider's own server.
std::string base_url_of(const Session& session) {
  json::Scanner scanner(json::find_member(session.config.text(), "base_url"));
  std::string url;
  return scanner.string(url) ? url : "";
}

// The settings, then what the environment has keys for; "" when nothing is set.
std::string usual_provider(const ProcessEnvironment& environment, const RunFlags& flags,
                           const Settings& settings) {
  if (flags.base_url) {
    return "openai-chat";
  }
  if (settings.provider) {
    return *settings.provider;
  }
  if (std::ranges::any_of(settings.tops, [](const TopSettings& top) {
        return !top.provider && top.own.base_url;
      })) {
    return "openai-chat";
  }
  if (environment.find("ANTHROPIC_API_KEY")) {
    return "anthropic";
  }
  if (environment.find("OPENAI_BASE_URL")) {
    return "openai-chat";
  }
  return environment.find("OPENAI_API_KEY") ? "openai-responses" : "";
}

// Azure's servers take a key in a header of their own.
bool wants_azure_header(std::string_view url) {
  const std::string server = http::server_of(url);
  const std::string_view host = std::string_view(server).substr(0, server.rfind(':'));
  return host.ends_with(".openai.azure.com") || host.ends_with(".cognitiveservices.azure.com");
}

bool is_own_server(const ProviderKind& known, std::string_view base_url) {
  return base_url.empty() ||
         ascii_lower(http::host_of(base_url)) == http::host_of(known.default_url);
}

// The provider's default where it is on offer, else the first.
std::string default_model(const ProviderKind& known, bool dev, std::string_view base_url,
                          const std::vector<ModelInfo>& offered) {
  std::string usual(dev ? known.dev_model : known.default_model);
  const bool there = std::ranges::find(offered, usual, &ModelInfo::id) != offered.end();
  if (!there && !offered.empty() && !is_own_server(known, base_url)) {
    return offered.front().id;
  }
  return usual;
}

// Another server than the provider's own knows best which models it has.
Result<std::string> model_of_server(Context& context, const ProviderKind& known,
                                    const RunFlags& flags, const ProviderChoice& choice) {
  const std::string& url = choice.options.base_url;
  const bool dev = flags.dev;
  if (is_own_server(known, url)) {
    return default_model(known, dev, url, {});
  }
  if (flags.sends_nothing) {
    context.remark(cat("no model is named: ", http::host_of(url), " would be asked for one"));
    return default_model(known, dev, url, {});
  }
  REPRISE_ASSIGN(const auto provider, make_provider(choice.name, choice.options));
  const auto offered = provider->models(kServerModelsTimeout, std::stop_token());
  if (!offered || offered->empty()) {  // whoever cannot be reached says so to the request
    std::string usual = default_model(known, dev, url, {});
    context.remark(cat("no model is named, and ", http::host_of(url), " lists none: trying ", usual,
                       "; --model names another"));
    return usual;
  }
  std::string model = default_model(known, dev, url, *offered);
  if (model != default_model(known, dev, url, {})) {
    context.remark(cat("using ", model,
                       offered->size() == 1
                           ? std::string(", the only model of ")
                           : cat(", the first of ", offered->size(), " models of "),
                       http::host_of(url), "; --model names another"));
  }
  return model;
}

class Chooser {
 public:
  Chooser(Context& context, const Settings& settings, const RunFlags& flags, const Session* session,
          std::string_view mode_model)
      : context_(context),
        settings_(settings),
        flags_(flags),
        session_(session),
        mode_model_(mode_model) {}

  Result<ProviderChoice> choose() {
    if (flags_.provider) {
      return named(*flags_.provider);
    }
    if (const std::string own = sessions_provider(); !own.empty()) {
      auto choice = named(own);
      // A model's name only hints at who has it: without a key there, the usual provider answers.
      if (choice || !session_->info.provider.empty() || choice.error().code != Code::unauthorized) {
        return choice;
      }
    }
    const std::string usual = usual_provider(context_.environment(), flags_, settings_);
    auto choice = usual.empty() ? local_server() : named(usual);
    if (choice) {
      warn_of_project(*choice);
      warn_of_another(*choice);
    }
    return choice;
  }

  // Who would answer a new session; nobody is asked, and no key is fetched.
  Result<ProviderChoice> expect() const {
    ProviderChoice choice;
    const std::string usual = usual_provider(context_.environment(), flags_, settings_);
    if (usual.empty()) {
      return choice;
    }
    const auto provider = find_provider(settings_, usual);
    if (!provider) {
      return unknown(usual);
    }
    choice.name = provider->kind->name;
    choice.options.base_url = choice.name == "echo" ? "" : usual_url(*provider);
    choice.model = named_model(*provider, choice);
    if (choice.model.empty() && is_own_server(*provider->kind, choice.options.base_url)) {
      choice.model = provider->kind->default_model;
    }
    return choice;
  }

  // Which of those that a server offers.
  std::string usual_model(const ProviderChoice& choice,
                          const std::vector<ModelInfo>& offered) const {
    const std::string usual =
        flags_.provider.value_or(usual_provider(context_.environment(), flags_, settings_));
    auto provider = find_provider(settings_, usual);
    if (!provider || provider->kind->name != choice.name) {
      provider = find_provider(settings_, choice.name);
    }
    if (!provider) {  // the choice is one of them
      return choice.model;
    }
    std::string named = named_model(*provider, choice);
    if (named.empty()) {
      named = default_model(*provider->kind, flags_.dev, choice.options.base_url, offered);
    }
    return named;
  }

 private:
  static std::unexpected<Error> unknown(std::string_view name) {
    std::string names;
    for (const std::string_view known : provider_names()) {
      names += cat(names.empty() ? "" : ", ", known);
    }
    return fail(Code::invalid_argument, cat("no provider is called '", name, "'; there are ", names,
                                            ", and each [providers.NAME] with a base_url"));
  }

  // "" when the session does not tell, or names nobody who is known here.
  std::string sessions_provider() const {
    if (session_ == nullptr) {
      return "";
    }
    const std::string& written = session_->info.provider;
    const auto own = find_provider(settings_, written);
    if (own) {
      const bool has_server = own->kind->name != "echo";
      return has_server || !flags_.base_url ? own->name : "";
    }
    return written.empty() ? std::string(provider_of_model(session_->info.model)) : "";
  }

  bool is_sessions(const NamedProvider& provider) const {
    return sessions_provider() == provider.name;
  }

  void warn_of_project(ProviderChoice& choice) const {
    if (!flags_.base_url && settings_.is_untrusted("provider")) {
      choice.warnings.push_back(cat(settings_.untrusted_file, " chooses the provider ",
                                    settings_.provider.value_or(""),
                                    ", and its folder is not trusted"));
    }
  }

  // Never in silence: what was said to one is now said to another.
  void warn_of_another(ProviderChoice& choice) const {
    if (session_ == nullptr || flags_.model || session_->info.model.empty() ||
        (session_->info.provider.empty() && session_->info.model == choice.model)) {
      return;
    }
    const std::string& before = session_->info.provider;
    choice.warnings.push_back(cat("the session was held with ", session_->info.model,
                                  before.empty() ? "" : cat(" of ", before), "; ", choice.model,
                                  " of ", choice.name, " goes on with it"));
  }

  Result<ProviderChoice> named(std::string_view name) {
    const auto provider = find_provider(settings_, name);
    if (!provider) {
      return unknown(name);
    }
    ProviderChoice choice;
    choice.name = provider->kind->name;
    choice.is_sessions_own = is_sessions(*provider);
    if (choice.name != "echo") {
      REPRISE_TRY(check_refusal(*provider));
      REPRISE_TRY(reach(*provider, choice));
    }
    REPRISE_ASSIGN(choice.model, model_of(*provider, choice));
    return choice;
  }

  Result<> check_refusal(const NamedProvider& provider) const {
    const auto own = settings_.providers.find(provider.name);
    if (own == settings_.providers.end() || own->second.refusal.empty() || flags_.base_url) {
      return {};
    }
    return fail(Code::unauthorized, own->second.refusal);
  }

  // The server, and the key that belongs to it.
  Result<> reach(const NamedProvider& provider, ProviderChoice& choice) const {
    ProviderOptions& options = choice.options;
    options.base_url = trimmed(base_url(provider, choice));
    const std::string url =
        options.base_url.empty() ? std::string(provider.kind->default_url) : options.base_url;
    REPRISE_ASSIGN(FoundKey found, find_key(context_, settings_, provider, url));
    options.api_key = std::move(found.key);
    if (options.api_key.empty()) {
      REPRISE_TRY(do_without_key(provider, url, found.elsewhere, options));
    } else if (wants_azure_header(url)) {
      options.auth = "api-key";
    }
    const bool has_secret = !options.api_key.empty() || http::masked_url(url) != url;
    if (has_secret && !is_safe_for_secrets(url) && !context_.is_insecure(settings_)) {
      return fail(Code::unauthorized, cat("the key would cross the network in clear text to ",
                                          http::host_of(url), "; use https, or --insecure"));
    }
    return {};
  }

  // Where the provider's own server is asked, a key is needed.
  static Result<> do_without_key(const NamedProvider& provider, const std::string& url,
                                 const std::string& elsewhere, ProviderOptions& options) {
    const auto known = find_provider_at(*provider.kind, url);
    const std::string& variable = known ? known->key_variable : provider.key_variable;
    const std::string& own = known ? known->own_url : provider.own_url;
    if (!variable.empty() && http::is_same_server(url, own)) {
      return fail(Code::unauthorized,
                  cat("no key for ", known ? known->name : provider.name, ": set ", variable,
                      ", or env_key or key_command in the config; `--provider echo` needs none",
                      elsewhere.empty() ? "" : cat("; ", elsewhere)));
    }
    options.key_advice = cat("set base_url and env_key in a [providers.NAME] of the config",
                             elsewhere.empty() ? "" : cat("; ", elsewhere));
    return {};
  }

  // "" for the kind's own.
  std::string base_url(const NamedProvider& provider, ProviderChoice& choice) const {
    if (flags_.base_url) {
      return *flags_.base_url;
    }
    std::string usual = usual_url(provider);
    std::string before = choice.is_sessions_own ? base_url_of(*session_) : "";
    if (http::is_local_url(before) && http::masked_url(before) == before) {
      return before;
    }
    if (before.empty() || http::is_same_server(before, usual)) {
      return usual;
    }
    // Only where the settings name the server, too: a session may come from somebody else.
    if (const std::string configured = configured_url(provider, before); !configured.empty()) {
      return configured;
    }
    const std::string now = usual.empty() ? std::string(provider.kind->default_url) : usual;
    if (!http::is_same_server(before, now)) {
      choice.warnings.push_back(cat("the session was held at ", http::host_of(before), "; ",
                                    http::host_of(now),
                                    " goes on with it; --base-url, or a "
                                    "base_url in the config, goes back"));
    }
    return usual;
  }

  std::string usual_url(const NamedProvider& provider) const {
    if (auto url = setting(settings_, provider, &ProviderSettings::base_url)) {
      return *std::move(url);
    }
    if (!provider.is_kind()) {
      return provider.own_url;
    }
    const std::string variable(provider.kind->url_variable);
    return context_.environment().find(variable).value_or("");
  }

  // The URL by which the settings, or everybody, know the server of `url`; "" when they do not.
  std::string configured_url(const NamedProvider& provider, const std::string& url) const {
    for (const auto& [name, section] : settings_.providers) {
      const auto named = find_provider(settings_, name);
      if (named && named->kind == provider.kind && section.base_url &&
          http::is_same_server(*section.base_url, url)) {
        return *section.base_url;
      }
    }
    const auto known = find_provider_at(*provider.kind, url);
    return known ? known->own_url : "";
  }

  Result<std::string> model_of(const NamedProvider& provider, const ProviderChoice& choice) {
    std::string named = named_model(provider, choice);
    if (!named.empty() || flags_.model) {
      return named;
    }
    // Well-known servers have too many to take any of them.
    if (find_provider_at(*provider.kind, choice.options.base_url) &&
        !http::is_local_url(choice.options.base_url)) {
      return fail(Code::invalid_argument,
                  cat("no model for ", provider.name, ": give --model, or set model in [providers.",
                      provider.name, "]"));
    }
    if (choice.name == "echo") {
      return std::string(provider.kind->default_model);
    }
    return model_of_server(context_, *provider.kind, flags_, choice);
  }

  // "" when nobody says which.
  std::string named_model(const NamedProvider& provider, const ProviderChoice& choice) const {
    if (flags_.model) {
      return *flags_.model;
    }
    if (flags_.dev) {
      return setting(settings_, provider, &ProviderSettings::dev_model).value_or("");
    }
    std::string own = session_ == nullptr ? "" : session_->info.model;
    // A session that names no provider, at a server that may have any model.
    const bool is_open = session_ != nullptr && session_->info.provider.empty() &&
                         !choice.options.base_url.empty() && !has_own_models(provider, choice);
    if (!own.empty() && (choice.is_sessions_own || is_open)) {
      return own;
    }
    if (!mode_model_.empty()) {
      return std::string(mode_model_);
    }
    return setting(settings_, provider, &ProviderSettings::model).value_or("");
  }

  static bool has_own_models(const NamedProvider& provider, const ProviderChoice& choice) {
    const std::string& url = choice.options.base_url;
    return http::is_same_server(url, provider.kind->default_url) ||
           find_provider_at(*provider.kind, url).has_value();
  }

  Result<ProviderChoice> local_server() {
    const std::string wanted =
        flags_.model.value_or(session_ == nullptr ? "" : session_->info.model);
    const std::vector<LocalServer> servers = find_local_servers(kLocalServerTimeout);
    const auto has_wanted = [&](const LocalServer& server) {
      return std::ranges::find(server.models, wanted) != server.models.end();
    };
    auto usable = std::ranges::find_if(servers, has_wanted);
    if (usable == servers.end()) {
      usable = std::ranges::find_if(servers, [&](const LocalServer& server) {
        return flags_.model.has_value() || !server.models.empty();
      });
    }
    if (usable == servers.end()) {
      return fail(Code::not_found,
                  "no provider: set ANTHROPIC_API_KEY or OPENAI_API_KEY, or start a local server "
                  "such as Ollama, or try `--provider echo`, which needs neither");
    }
    const std::string model = flags_.model || has_wanted(*usable) ? wanted : usable->models.front();
    context_.remark(model.empty()
                        ? cat("asking ", usable->name, " at ", usable->base_url)
                        : cat("using ", model, " of ", usable->name, " at ", usable->base_url));
    ProviderChoice choice{.name = "openai-chat", .model = model, .options = {}, .warnings = {}};
    choice.options.base_url = usable->base_url;
    return choice;
  }

  Context& context_;
  const Settings& settings_;
  const RunFlags& flags_;
  const Session* session_;
  std::string_view mode_model_;
};

}  // namespace

bool expects_http(const Context& context, const RunFlags& flags, const Settings& settings) {
  return flags.provider.value_or(usual_provider(context.environment(), flags, settings)) != "echo";
}

Result<ProviderChoice> choose_provider(Context& context, const RunFlags& flags,
                                       const Session* session, std::string_view mode_model) {
  REPRISE_ASSIGN(const Settings* settings, context.settings());
  return Chooser(context, *settings, flags, session, mode_model).choose();
}

Result<ProviderChoice> expected_provider(Context& context) {
  REPRISE_ASSIGN(const Settings* settings, context.settings());
  const RunFlags flags;
  return Chooser(context, *settings, flags, nullptr, "").expect();
}

Result<std::string> usual_model(Context& context, const RunFlags& flags,
                                const ProviderChoice& choice,
                                const std::vector<ModelInfo>& offered) {
  REPRISE_ASSIGN(const Settings* settings, context.settings());
  return Chooser(context, *settings, flags, nullptr, "").usual_model(choice, offered);
}

}  // namespace reprise::cli
