#include "cli/provider/provider_choice.h"

#include <algorithm>
#include <ranges>

#include "base/http.h"
#include "base/text.h"
#include "cli/provider/provider_server.h"
#include "cli/settings/program_config.h"
#include "session/session_config.h"

namespace reprise::cli {
namespace {

// From the settings, else by the variables in the environment; "" if nothing is set.
std::string default_provider(const ProcessEnvironment& environment, const RunFlags& flags,
                             const Settings& settings) {
  if (!flags.base_url && settings.provider) {
    return *settings.provider;
  }
  if (flags.base_url || std::ranges::any_of(settings.tops, [](const TopSettings& top) {
        return !top.provider && top.own.base_url;
      })) {
    return std::string(kCompatibleKind);
  }
  for (const ProviderKind& kind : provider_kinds() | std::views::reverse) {
    if (!kind.selecting_variable.empty() && environment.find(kind.selecting_variable)) {
      return std::string(kind.name);
    }
  }
  return "";
}

class Chooser {
 public:
  Chooser(Context& context, const Settings& settings, const RunFlags& flags, const Session* session,
          std::string_view mode_model)
      : sources_{context, settings, flags, session}, mode_model_(mode_model) {}

  Result<ProviderChoice> choose() {
    if (sources_.flags.provider) {
      return named(*sources_.flags.provider);
    }
    if (const std::string own = sessions_provider(); !own.empty()) {
      auto choice = named(own);
      // The model's name is only a hint: if that provider has no key, the usual provider is used.
      if (choice || !sources_.session->info.provider.empty() ||
          choice.error().code != Code::unauthorized) {
        return choice;
      }
    }
    const std::string name =
        default_provider(sources_.context.environment(), sources_.flags, sources_.settings);
    auto choice = name.empty() ? local_server(sources_) : named(name);
    if (choice) {
      warn_of_project(*choice);
      warn_of_another(*choice);
    }
    return choice;
  }

  // The choice for a new session, without requests and without reading keys.
  Result<ProviderChoice> expect() const {
    ProviderChoice choice;
    const std::string name =
        default_provider(sources_.context.environment(), sources_.flags, sources_.settings);
    if (name.empty()) {
      return choice;
    }
    const auto provider = find_provider(sources_.settings, name);
    if (!provider) {
      return unknown(name);
    }
    choice.kind = provider->kind->name;
    choice.name = provider->name;
    choice.options.base_url = provider->kind->has_server() ? base_url_for(sources_, *provider) : "";
    choice.model = named_model(*provider, choice);
    if (choice.model.empty() && is_own_server(*provider->kind, choice.options.base_url)) {
      choice.model = provider->kind->default_model;
    }
    return choice;
  }

  // The usual one of the models that a server offers.
  std::string default_model_for(const ProviderChoice& choice,
                                const std::vector<ModelInfo>& offered) const {
    const std::string name = sources_.flags.provider.value_or(
        default_provider(sources_.context.environment(), sources_.flags, sources_.settings));
    auto provider = find_provider(sources_.settings, name);
    if (!provider || provider->kind->name != choice.kind) {
      provider = find_provider(sources_.settings, choice.name);
    }
    if (!provider) {  // `choice` is already a known provider
      return choice.model;
    }
    std::string named = named_model(*provider, choice);
    if (named.empty()) {
      named = default_model(*provider->kind, sources_.flags.dev, choice.options.base_url, offered);
    }
    return named;
  }

 private:
  std::unexpected<Error> unknown(std::string_view name) const {
    if (sources_.settings.providers.contains(name)) {
      return fail(Code::invalid_argument,
                  cat("[providers.", name, "] has no base_url: add it with `reprise config set ",
                      "providers.", name, ".base_url URL`"));
    }
    const auto from = sources_.settings.origin.find("provider");
    const bool is_set = !sources_.flags.provider && sources_.settings.provider == name;
    return fail(
        Code::invalid_argument,
        unknown_provider(
            name, is_set && from != sources_.settings.origin.end() ? from->second : std::string()));
  }

  // "" if the session names neither a known provider nor a server.
  std::string sessions_provider() const {
    if (sources_.session == nullptr) {
      return "";
    }
    const std::string& written = sources_.session->info.provider;
    const auto own = find_provider(sources_.settings, written);
    if (own) {
      return own->kind->has_server() || !sources_.flags.base_url ? own->name : "";
    }
    if (written.empty()) {
      return std::string(provider_of_model(sources_.session->info.model));
    }
    // A name of other settings: the stored URL names the server.
    return stored_base_url(*sources_.session).empty() ? "" : std::string(kCompatibleKind);
  }

  bool is_sessions(const NamedProvider& provider) const {
    return sessions_provider() == provider.name;
  }

  void warn_of_project(ProviderChoice& choice) const {
    if (!sources_.flags.base_url && sources_.settings.is_untrusted("provider")) {
      choice.warnings.push_back(cat(sources_.settings.untrusted_file, " chooses the provider ",
                                    sources_.settings.provider.value_or(""),
                                    ", and its folder is not trusted"));
    }
  }

  // Warns that the conversation continues with another provider or model.
  void warn_of_another(ProviderChoice& choice) const {
    if (sources_.session == nullptr || sources_.flags.model ||
        sources_.session->info.model.empty() ||
        (sources_.session->info.provider.empty() && sources_.session->info.model == choice.model)) {
      return;
    }
    const std::string& previous = sources_.session->info.provider;
    choice.warnings.push_back(cat("the session used ", sources_.session->info.model,
                                  previous.empty() ? "" : cat(" of ", previous), "; ", choice.model,
                                  " of ", choice.name, " continues it"));
  }

  Result<ProviderChoice> named(std::string_view name) {
    const auto provider = find_provider(sources_.settings, name);
    if (!provider) {
      return unknown(name);
    }
    ProviderChoice choice;
    choice.kind = provider->kind->name;
    choice.name = provider->name;
    choice.is_sessions_own = is_sessions(*provider);
    if (provider->kind->has_server()) {
      REPRISE_TRY(check_refusal(*provider));
      REPRISE_TRY(choose_server(sources_, *provider, choice));
    }
    REPRISE_ASSIGN(choice.model, model_of(*provider, choice));
    return choice;
  }

  Result<> check_refusal(const NamedProvider& provider) const {
    const auto own = sources_.settings.providers.find(provider.name);
    if (own == sources_.settings.providers.end() || own->second.refusal.empty() ||
        sources_.flags.base_url) {
      return {};
    }
    return fail(Code::unauthorized, own->second.refusal);
  }

  Result<std::string> model_of(const NamedProvider& provider, const ProviderChoice& choice) {
    std::string named = named_model(provider, choice);
    if (!named.empty() || sources_.flags.model) {
      return named;
    }
    // Well-known servers offer too many models to pick one.
    if (find_provider_at(*provider.kind, choice.options.base_url) &&
        !http::is_local_url(choice.options.base_url)) {
      return fail(Code::invalid_argument,
                  cat("no model for ", provider.name, ": give --model, or set model in [providers.",
                      provider.name, "]"));
    }
    if (!provider.kind->has_server()) {
      return std::string(provider.kind->default_model);
    }
    return model_of_server(sources_.context, *provider.kind, sources_.flags, choice);
  }

  // "" if none is named.
  std::string named_model(const NamedProvider& provider, const ProviderChoice& choice) const {
    if (sources_.flags.model) {
      return *sources_.flags.model;
    }
    if (sources_.flags.dev) {
      return setting(sources_.settings, provider, &ProviderSettings::dev_model).value_or("");
    }
    std::string own = sources_.session == nullptr ? "" : sources_.session->info.model;
    // The session has no provider, and the server may have any model.
    const bool is_open = sources_.session != nullptr && sources_.session->info.provider.empty() &&
                         !choice.options.base_url.empty() && !has_own_models(provider, choice);
    if (!own.empty() && (choice.is_sessions_own || is_open)) {
      return own;
    }
    if (!mode_model_.empty()) {
      return std::string(mode_model_);
    }
    return setting(sources_.settings, provider, &ProviderSettings::model).value_or("");
  }

  static bool has_own_models(const NamedProvider& provider, const ProviderChoice& choice) {
    const std::string& url = choice.options.base_url;
    return http::is_same_server(url, provider.kind->default_url) ||
           find_provider_at(*provider.kind, url).has_value();
  }

  ChoiceSources sources_;
  std::string_view mode_model_;
};

}  // namespace

bool expects_http(const Context& context, const RunFlags& flags, const Settings& settings) {
  const ProviderKind* const kind = find_provider_kind(
      flags.provider.value_or(default_provider(context.environment(), flags, settings)));
  return kind == nullptr || kind->has_server();
}

Result<ProviderChoice> choose_provider(Context& context, const RunFlags& flags,
                                       const Session* session, std::string_view mode_model) {
  REPRISE_ASSIGN(const Settings* settings, context.config().settings());
  return Chooser(context, *settings, flags, session, mode_model).choose();
}

Result<ProviderChoice> expected_provider(Context& context) {
  REPRISE_ASSIGN(const Settings* settings, context.config().settings());
  const RunFlags flags;
  return Chooser(context, *settings, flags, nullptr, "").expect();
}

Result<std::string> default_model_for(Context& context, const RunFlags& flags,
                                      const ProviderChoice& choice,
                                      const std::vector<ModelInfo>& offered) {
  REPRISE_ASSIGN(const Settings* settings, context.config().settings());
  return Chooser(context, *settings, flags, nullptr, "").default_model_for(choice, offered);
}

}  // namespace reprise::cli
