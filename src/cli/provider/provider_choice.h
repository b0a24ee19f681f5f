#pragma once

// Chooses the provider, its server, key and model: the flags, settings and environment of the
// program for the rules in choice/.

#include "choice/provider_choice.h"  // IWYU pragma: export
#include "choice/settings.h"         // IWYU pragma: export
#include "cli/program/context.h"     // IWYU pragma: export
#include "cli/settings/run_flags.h"  // IWYU pragma: export
#include "reprise/provider.h"        // IWYU pragma: export
#include "reprise/session.h"         // IWYU pragma: export

namespace reprise::choice {
struct Sources;
struct Wanted;
}  // namespace reprise::choice

namespace reprise::cli {

// The input of a choice. `session` is the resumed one, or null.
choice::Sources choice_sources(Context& context, const Settings& settings, const RunFlags& flags,
                               const Session* session = nullptr);
choice::Wanted wanted_by(const Context& context, const RunFlags& flags);

// Prints notices. `mode_model` is the model of a mode, "" for none. Probes the usual local ports if
// nothing else is set (the error lists the alternatives), and asks a server other than the
// provider's own for its models if none is named.
Result<ProviderChoice> choose_provider(Context& context, const RunFlags& flags,
                                       const Session* session, std::string_view mode_model = "");

// Remembers a chosen server on this machine, so that sessions of this store go back to it. That a
// session alone named it is impossible: such servers are not chosen.
void remember_server(Context& context, const Settings& settings, const ProviderChoice& choice);

// The provider, model and server that settings and environment imply, without requests and without
// reading keys. The name is empty if nothing is set, the model if the server would be asked.
Result<ProviderChoice> expected_provider(Context& context);

// The offered model that is used if neither a flag nor a session names one.
Result<std::string> default_model_for(Context& context, const RunFlags& flags,
                                      const ProviderChoice& choice,
                                      const std::vector<ModelInfo>& offered);

// Whether HTTP will probably be needed, judging by flags, settings and environment.
bool expects_http(Context& context, const RunFlags& flags, const Settings& settings);

// Servers that respond on this machine, on the usual ports or on REPRISE_LOCAL_PORTS.
std::vector<LocalServer> local_servers(Context& context, std::chrono::milliseconds timeout);

}  // namespace reprise::cli
