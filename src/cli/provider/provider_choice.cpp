
#include "cli/provider/provider_choice.h"

#include <algorithm>
#include <ranges>

#include "base/http.h"
#include "base/text.h"
#include "cli/provider/provider_server.h"
#include "cli/settings/program_config.h"

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
      : from_{context, settings, flags, session},
        context_(context),
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
      // The model's name is only a hint: if that provider has no key, the usual provider is used.
      if (choice || !session_->info.provider.empty() || choice.error().code != Code::unauthorized) {
        return choice;
      }
    }
    const std::string name = default_provider(context_.environment(), flags_, settings_);
    auto choice = name.empty() ? local_server(from_) : named(name);
    if (choice) {
      warn_of_project(*choice);
      warn_of_another(*choice);
    }
    return choice;
  }

  // The choice for a new session, without requests and without reading keys.
  Result<ProviderChoice> expect() const {
    ProviderChoice choice;
    const std::string name = default_provider(context_.environment(), flags_, settings_);
    if (name.empty()) {
      return choice;
    }
    const auto provider = find_provider(settings_, name);
    if (!provider) {
      return unknown(name);
    }
    choice.name = provider->kind->name;
    choice.options.base_url = provider->kind->has_server() ? base_url_for(from_, *provider) : "";
    choice.model = named_model(*provider, choice);
    if (choice.model.empty() && is_own_server(*provider->kind, choice.options.base_url)) {
      choice.model = provider->kind->default_model;
    }
    return choice;
  }

  // The usual one of the models that a server offers.
  std::string default_model_for(const ProviderChoice& choice,
                                const std::vector<ModelInfo>& offered) const {
    const std::string name =
        flags_.provider.value_or(default_provider(context_.environment(), flags_, settings_));
    auto provider = find_provider(settings_, name);
    if (!provider || provider->kind->name != choice.name) {
      provider = find_provider(settings_, choice.name);
    }
    if (!provider) {  // `choice` is already a known provider
      return choice.model;
    }
    std::string named = named_model(*provider, choice);
    if (named.empty()) {
      named = default_model(*provider->kind, flags_.dev, choice.options.base_url, offered);
    }
    return named;
  }

 private:
  std::unexpected<Error> unknown(std::string_view name) const {
    if (settings_.providers.contains(name)) {
      return fail(Code::invalid_argument,
                  cat("[providers.", name, "] has no base_url: add it with `reprise config set ",
                      "providers.", name, ".base_url URL`"));
    }
    const auto from = settings_.origin.find("provider");
    const bool is_set = !flags_.provider && settings_.provider == name;
    return fail(Code::invalid_argument,
                unknown_provider(
                    name, is_set && from != settings_.origin.end() ? from->second : std::string()));
  }

  // "" if the session does not name a known provider.
  std::string sessions_provider() const {
    if (session_ == nullptr) {
      return "";
    }
    const std::string& written = session_->info.provider;
    const auto own = find_provider(settings_, written);
    if (own) {
      return own->kind->has_server() || !flags_.base_url ? own->name : "";
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

  // Warns that the conversation continues with another provider or model.
  void warn_of_another(ProviderChoice& choice) const {
    if (session_ == nullptr || flags_.model || session_->info.model.empty() ||
        (session_->info.provider.empty() && session_->info.model == choice.model)) {
      return;
    }
    const std::string& before = session_->info.provider;
    choice.warnings.push_back(cat("the session used ", session_->info.model,
                                  before.empty() ? "" : cat(" of ", before), "; ", choice.model,
                                  " of ", choice.name, " continues it"));
  }

  Result<ProviderChoice> named(std::string_view name) {
    const auto provider = find_provider(settings_, name);
    if (!provider) {
      return unknown(name);
    }
    ProviderChoice choice;
    choice.name = provider->kind->name;
    choice.is_sessions_own = is_sessions(*provider);
    if (provider->kind->has_server()) {
      REPRISE_TRY(check_refusal(*provider));
      REPRISE_TRY(choose_server(from_, *provider, choice));
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

  Result<std::string> model_of(const NamedProvider& provider, const ProviderChoice& choice) {
    std::string named = named_model(provider, choice);
    if (!named.empty() || flags_.model) {
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
    return model_of_server(context_, *provider.kind, flags_, choice);
  }

  // "" if none is named.
  std::string named_model(const NamedProvider& provider, const ProviderChoice& choice) const {
    if (flags_.model) {
      return *flags_.model;
    }
    if (flags_.dev) {
      return setting(settings_, provider, &ProviderSettings::dev_model).value_or("");
    }
    std::string own = session_ == nullptr ? "" : session_->info.model;
    // The session has no provider, and the server may have any model.
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

  ChoiceSources from_;
  Context& context_;
  const Settings& settings_;
  const RunFlags& flags_;
  const Session* session_;
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
