#pragma once

// Chooses a model if none is named.

#include "cli/program/context.h"           // IWYU pragma: export
#include "cli/provider/provider_choice.h"  // IWYU pragma: export
#include "cli/provider/provider_server.h"
#include "cli/settings/run_flags.h"  // IWYU pragma: export
#include "reprise/provider.h"        // IWYU pragma: export

namespace reprise::cli {

bool is_own_server(const ProviderKind& known, std::string_view base_url);

// The provider's default if it is offered, else the first one.
std::string default_model(const ProviderKind& known, bool dev, std::string_view base_url,
                          const std::vector<ModelInfo>& offered);

// Asks a server that is not the provider's own for its models.
Result<std::string> model_of_server(Context& context, const ProviderKind& known,
                                    const RunFlags& flags, const ProviderChoice& choice);

// Servers that respond on this machine, on the usual ports or on REPRISE_LOCAL_PORTS.
std::vector<LocalServer> local_servers(Context& context, std::chrono::milliseconds timeout);

// A local server that has models. not_found names the alternatives.
Result<ProviderChoice> local_server(const ChoiceSources& from);

}  // namespace reprise::cli
