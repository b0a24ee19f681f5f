#include "cli/provider_choice.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
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
#include "cli/run_flags.h"
#include "cli/settings.h"
#include "provider/kinds.h"
#include "reprise/error.h"
#include "reprise/provider.h"
#include "reprise/session.h"

namespace reprise::cli {
namespace {

constexpr std::chrono::milliseconds kLocalServerTimeout{300};
constexpr std::chrono::milliseconds kModelsTimeout{3'000};
constexpr std::size_t kKeyBytesMax = 16 << 10;

using Slot = std::optional<std::string> ProviderSettings::*;

// The provider's own section first; the keys at the top belong to the provider named beside them.
std::optional<std::string> setting(const Settings& settings, std::string_view provider, Slot slot) {
  if (const auto own = settings.providers.find(provider);
      own != settings.providers.end() && own->second.*slot) {
    return own->second.*slot;
  }
  const bool meant = !settings.provider || *settings.provider == provider;
  return meant ? settings.any.*slot : std::nullopt;
}

// A server on this machine that a session was held with is gone back to. Any other URL out of a
// session is not followed: a store may come from somebody else.
std::optional<std::string> remembered_local_url(const Session* session) {
  if (session == nullptr) {
    return std::nullopt;
  }
  json::Scanner scanner(json::find_member(session->config.text(), "base_url"));
  std::string url;
  if (!scanner.string(url)) {
    return std::nullopt;
  }
  return http::is_local_url(url) ? std::optional(std::move(url)) : std::nullopt;
}

Result<std::string> find_key(const Context& context, const Settings& settings,
                             const ProviderKind& known) {
  if (const auto variable = setting(settings, known.name, &ProviderSettings::env_key)) {
    if (auto key = context.environment().find(*variable)) {
      return *std::move(key);
    }
    return fail(Code::unauthorized,
                cat("no key: the variable ", *variable, " named by env_key is not set"));
  }
  if (const auto command = setting(settings, known.name, &ProviderSettings::key_command)) {
    return run_key_command(*command);
  }
  return context.environment().find(known.key_variable).value_or("");
}

// "" when nobody says which.
std::string named_model(const Settings& settings, const RunFlags& flags, const ProviderKind& known,
                        const Session* session, std::string_view mode_model) {
  if (flags.model) {
    return *flags.model;
  }
  if (flags.dev) {
    return setting(settings, known.name, &ProviderSettings::dev_model).value_or("");
  }
  if (session != nullptr && session->info.provider == known.name && !session->info.model.empty()) {
    return session->info.model;
  }
  if (!mode_model.empty()) {
    return std::string(mode_model);
  }
  return setting(settings, known.name, &ProviderSettings::model).value_or("");
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
  return there || offered.empty() || is_own_server(known, base_url) ? usual : offered.front().id;
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
  const auto offered = provider->models(kModelsTimeout, std::stop_token());
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

// Flags, the session's own, the settings, then what the environment has keys for.
std::string_view wanted_provider(const Context& context, const RunFlags& flags,
                                 const Settings& settings, const Session* session) {
  if (flags.provider) {
    return *flags.provider;
  }
  if (flags.base_url) {
    return "openai-chat";
  }
  if (session != nullptr && find_provider_kind(session->info.provider) != nullptr) {
    return session->info.provider;
  }
  if (settings.provider) {
    return *settings.provider;
  }
  if (settings.any.base_url) {
    return "openai-chat";
  }
  const ProcessEnvironment& environment = context.environment();
  if (environment.find("ANTHROPIC_API_KEY")) {
    return "anthropic";
  }
  if (environment.find("OPENAI_BASE_URL")) {
    return "openai-chat";
  }
  return environment.find("OPENAI_API_KEY") ? "openai-responses" : "";
}

Result<ProviderChoice> choose_local_server(Context& context, const RunFlags& flags) {
  const std::vector<LocalServer> servers = find_local_servers(kLocalServerTimeout);
  const auto usable = std::ranges::find_if(servers, [&](const LocalServer& server) {
    return flags.model.has_value() || !server.models.empty();
  });
  if (usable == servers.end()) {
    return fail(Code::not_found,
                "no provider: set ANTHROPIC_API_KEY or OPENAI_API_KEY, or start a local server "
                "such as Ollama, or try `--provider echo`, which needs neither");
  }
  const std::string model = flags.model ? *flags.model : usable->models.front();
  context.remark(model.empty()
                     ? cat("asking ", usable->name, " at ", usable->base_url)
                     : cat("using ", model, " of ", usable->name, " at ", usable->base_url));
  ProviderChoice choice{.name = "openai-chat", .model = model, .options = {}};
  choice.options.base_url = usable->base_url;
  return choice;
}

std::string unknown_provider(std::string_view name) {
  return cat("no provider is called '", name, "'; there are ", provider::kind_names());
}

}  // namespace

std::string_view default_key_variable(std::string_view provider) {
  const ProviderKind* const known = find_provider_kind(provider);
  return known == nullptr ? "" : known->key_variable;
}

Result<std::string> run_key_command(const std::string& command, std::string_view setting) {
  // NOLINTNEXTLINE(cert-env33-c): running the person's own command is what key_command is for.
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "re"),
                                                   [](FILE* file) { return ::pclose(file); });
  if (pipe == nullptr) {
    return fail(Code::io, cat("cannot start ", setting), errno);
  }
  std::string out;
  std::array<char, 4096> piece{};
  while (out.size() <= kKeyBytesMax) {
    const std::size_t count = std::fread(piece.data(), 1, piece.size(), pipe.get());
    if (count == 0) {
      break;
    }
    out.append(piece.data(), count);
  }
  std::string key(trimmed(out));
  if (key.empty() || key.size() > kKeyBytesMax || key.find('\n') != std::string::npos) {
    return fail(Code::unauthorized, cat(setting, " printed no key; it must print one line"));
  }
  return key;
}

bool expects_http(const Context& context, const RunFlags& flags, const Settings& settings) {
  const std::string_view name = wanted_provider(context, flags, settings, nullptr);
  return name != "echo";
}

Result<ProviderChoice> choose_provider(Context& context, const RunFlags& flags,
                                       const Session* session, std::string_view mode_model) {
  REPRISE_ASSIGN(const Settings* settings, context.settings());
  const std::string_view name = wanted_provider(context, flags, *settings, session);
  if (name.empty()) {
    return choose_local_server(context, flags);
  }
  const ProviderKind* const known = find_provider_kind(name);
  if (known == nullptr) {
    return fail(Code::invalid_argument, unknown_provider(name));
  }
  ProviderChoice choice;
  choice.name = known->name;
  choice.model = named_model(*settings, flags, *known, session, mode_model);
  const bool is_named = flags.model || !choice.model.empty();
  if (choice.name == "echo") {
    choice.model = is_named ? choice.model : std::string(known->default_model);
    return choice;
  }
  if (const auto own = settings->providers.find(name);
      own != settings->providers.end() && !own->second.refusal.empty() && !flags.base_url) {
    return fail(Code::unauthorized, own->second.refusal);
  }
  const auto own_url =
      flags.base_url ? flags.base_url : setting(*settings, name, &ProviderSettings::base_url);
  const auto url = own_url ? own_url : context.environment().find(known->url_variable);
  if (const auto remembered = remembered_local_url(session);
      remembered && !flags.base_url && session->info.provider == name) {
    choice.options.base_url = *remembered;  // and no key goes there
    if (remembered != url) {
      if (!is_named) {
        REPRISE_ASSIGN(choice.model, model_of_server(context, *known, flags, choice));
      }
      return choice;
    }
  }
  choice.options.base_url = url.value_or("");
  REPRISE_ASSIGN(choice.options.api_key, find_key(context, *settings, *known));
  if (choice.options.api_key.empty() && !url) {
    return fail(Code::unauthorized,
                cat("no key for ", name, ": set ", known->key_variable,
                    ", or env_key or key_command in the config; `--provider echo` needs none"));
  }
  if (!is_named) {
    REPRISE_ASSIGN(choice.model, model_of_server(context, *known, flags, choice));
  }
  return choice;
}

Result<ProviderChoice> expected_provider(Context& context) {
  REPRISE_ASSIGN(const Settings* settings, context.settings());
  const RunFlags flags;
  ProviderChoice choice;
  choice.name = wanted_provider(context, flags, *settings, nullptr);
  if (choice.name.empty()) {
    return choice;
  }
  const ProviderKind* const known = find_provider_kind(choice.name);
  if (known == nullptr) {
    return fail(Code::invalid_argument, unknown_provider(choice.name));
  }
  const auto own = setting(*settings, choice.name, &ProviderSettings::base_url);
  const auto url = own ? own : context.environment().find(known->url_variable);
  choice.options.base_url = url.value_or("");
  choice.model = named_model(*settings, flags, *known, nullptr, "");
  if (choice.model.empty() && is_own_server(*known, choice.options.base_url)) {
    choice.model = known->default_model;
  }
  return choice;
}

Result<std::string> usual_model(Context& context, const RunFlags& flags,
                                const ProviderChoice& choice,
                                const std::vector<ModelInfo>& offered) {
  REPRISE_ASSIGN(const Settings* settings, context.settings());
  const ProviderKind& known = *find_provider_kind(choice.name);
  std::string named = named_model(*settings, flags, known, nullptr, "");
  return named.empty() ? default_model(known, flags.dev, choice.options.base_url, offered) : named;
}

}  // namespace reprise::cli
