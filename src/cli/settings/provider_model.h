#pragma once

// Which model answers where nobody names one.

#include "cli/program/context.h"           // IWYU pragma: export
#include "cli/settings/provider_choice.h"  // IWYU pragma: export
#include "cli/settings/provider_server.h"
#include "cli/settings/run_flags.h"  // IWYU pragma: export
#include "reprise/provider.h"        // IWYU pragma: export

namespace reprise::cli {

bool is_own_server(const ProviderKind& known, std::string_view base_url);

// The provider's default where it is on offer, else the first.
std::string default_model(const ProviderKind& known, bool dev, std::string_view base_url,
                          const std::vector<ModelInfo>& offered);

// Another server than the provider's own knows best which models it has.
Result<std::string> model_of_server(Context& context, const ProviderKind& known,
                                    const RunFlags& flags, const ProviderChoice& choice);

// Servers of this machine that answer, on their usual ports or on those of REPRISE_LOCAL_PORTS.
std::vector<LocalServer> local_servers(Context& context, std::chrono::milliseconds timeout);

// A server of this machine that has models. not_found says what else there is.
Result<ProviderChoice> local_server(const ChoiceSources& from);

}  // namespace reprise::cli
