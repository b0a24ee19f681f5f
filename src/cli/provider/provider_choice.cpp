#include "cli/provider/provider_choice.h"

#include <chrono>
#include <cstdint>

#include "base/http.h"
#include "base/text.h"
#include "choice/resolve.h"
#include "cli/process/key_command.h"
#include "cli/program/given_servers.h"
#include "cli/settings/context_file.h"
#include "cli/settings/program_config.h"

namespace reprise::cli {
namespace {

constexpr std::chrono::milliseconds kLocalServerTimeout{300};
constexpr std::chrono::milliseconds kServerModelsTimeout{3'000};

GivenServer given_server(Context& context, const Settings& settings, std::string_view base_url) {
  ProgramConfig& config = context.config();
  return {.state_folder = config.state_folder(),
          .store_url = config.absolute_url(settings),
          .base_url = http::masked_url(base_url)};
}

}  // namespace

choice::Sources choice_sources(Context& context, const Settings& settings, const RunFlags& flags,
                               const Session* session) {
  choice::Sources out{
      .settings = settings,
      .variable = [&environment = context.environment()](
                      std::string_view name) { return environment.find(name); },
      .session = session,
      .run_key_command = [](const std::string& command) { return run_key_command(command); },
      .local_servers = [&context] { return local_servers(context, kLocalServerTimeout); },
      .was_given =
          [&context, &settings](const std::string& url) {
            return was_given(given_server(context, settings, url));
          }};
  if (!flags.sends_nothing) {
    out.models = [](Provider& provider) {
      return provider.models(kServerModelsTimeout, std::stop_token());
    };
  }
  return out;
}

choice::Wanted wanted_by(const Context& context, const RunFlags& flags) {
  return {.provider = flags.provider,
          .model = flags.model,
          .base_url = flags.base_url,
          .dev = flags.dev,
          .allows_clear_text = context.globals().insecure};
}

Result<ProviderChoice> choose_provider(Context& context, const RunFlags& flags,
                                       const Session* session, std::string_view mode_model) {
  REPRISE_ASSIGN(const Settings* const settings, context.config().settings());
  choice::Wanted wanted = wanted_by(context, flags);
  wanted.mode_model = mode_model;
  REPRISE_ASSIGN(ProviderChoice choice,
                 choice::resolve(choice_sources(context, *settings, flags, session), wanted));
  for (const std::string& notice : choice.notices) {
    context.console().notice(notice);
  }
  return choice;
}

void remember_server(Context& context, const Settings& settings, const ProviderChoice& choice) {
  const std::string& url = choice.options.base_url;
  if (!http::is_local_url(http::server_of(url))) {
    return;
  }
  if (const auto saved = remember_given(given_server(context, settings, url)); !saved) {
    context.console().note(cat("this session will not go back to ", http::host_of(url),
                               " by itself: ", saved.error().message));
  }
}

Result<ProviderChoice> expected_provider(Context& context) {
  REPRISE_ASSIGN(const Settings* const settings, context.config().settings());
  return choice::expected(choice_sources(context, *settings, {}));
}

Result<std::string> default_model_for(Context& context, const RunFlags& flags,
                                      const ProviderChoice& choice,
                                      const std::vector<ModelInfo>& offered) {
  REPRISE_ASSIGN(const Settings* const settings, context.config().settings());
  return choice::usual_model(choice_sources(context, *settings, flags), wanted_by(context, flags),
                             choice, offered);
}

bool expects_http(Context& context, const RunFlags& flags, const Settings& settings) {
  return choice::expects_server(choice_sources(context, settings, flags),
                                wanted_by(context, flags));
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

}  // namespace reprise::cli
