#pragma once

// Chooses a provider's server and key, and a model if none is named.

#include "choice/provider_names.h"         // IWYU pragma: export
#include "cli/program/context.h"           // IWYU pragma: export
#include "cli/provider/provider_choice.h"  // IWYU pragma: export
#include "cli/settings/run_flags.h"        // IWYU pragma: export
#include "reprise/provider.h"              // IWYU pragma: export
#include "reprise/session.h"               // IWYU pragma: export

namespace reprise::cli {

// The input of a choice; `session` may be null.
struct ChoiceSources {
  Context& context;
  const Settings& settings;
  const RunFlags& flags;
  const Session* session;
};

using SettingMember = std::optional<std::string> ProviderSettings::*;

// The value in the provider's own section, else at the top of a file. The latter belongs to the
// provider named beside it, or else to the provider of the settings.
std::optional<std::string> setting(const Settings& settings, const NamedProvider& provider,
                                   SettingMember member);

// The provider's base URL unless the session has another; "" for the kind's default.
std::string base_url_for(const ChoiceSources& from, const NamedProvider& provider);

// Sets the server and the key that belongs to it. unauthorized if there is no key, or if it would
// be sent in clear text.
Result<> choose_server(const ChoiceSources& from, const NamedProvider& provider,
                       ProviderChoice& choice);

bool is_own_server(const ProviderKind& kind, std::string_view base_url);

// The provider's default if it is offered, else the first one.
std::string default_model(const ProviderKind& kind, bool dev, std::string_view base_url,
                          const std::vector<ModelInfo>& offered);

// Asks a server that is not the provider's own for its models.
Result<std::string> model_of_server(Context& context, const ProviderKind& kind,
                                    const RunFlags& flags, const ProviderChoice& choice);

// Servers that respond on this machine, on the usual ports or on REPRISE_LOCAL_PORTS.
std::vector<LocalServer> local_servers(Context& context, std::chrono::milliseconds timeout);

// A local server that has models. not_found names the alternatives.
Result<ProviderChoice> local_server(const ChoiceSources& from);

}  // namespace reprise::cli
