#pragma once

// Chooses the provider, its model and its key.

#include "choice/settings.h"         // IWYU pragma: export
#include "cli/program/context.h"     // IWYU pragma: export
#include "cli/settings/run_flags.h"  // IWYU pragma: export
#include "reprise/provider.h"        // IWYU pragma: export
#include "reprise/session.h"         // IWYU pragma: export

namespace reprise::cli {

struct ProviderChoice {
  std::string kind;  // whose protocol is used
  std::string name;  // the kind, a well-known server or a [providers.NAME]; stored in sessions
  std::string model;
  ProviderOptions options;
  bool is_sessions_own = false;       // the one that the session used before
  std::vector<std::string> warnings;  // for the user, one line each
};

// `session` is the resumed one (or null); its provider and model are used unless flags override
// them. `mode_model` is the model of a mode, "" for none. Probes the usual local ports if nothing
// else is set (the error lists the alternatives), and asks a server other than the provider's own
// for its models if none is named.
Result<ProviderChoice> choose_provider(Context& context, const RunFlags& flags,
                                       const Session* session, std::string_view mode_model = "");

// The provider, model and server that settings and environment imply, without requests and without
// reading keys. The name is empty if nothing is set, the model if the server would be asked.
Result<ProviderChoice> expected_provider(Context& context);

// The offered model that is used if neither a flag nor a session names one.
Result<std::string> default_model_for(Context& context, const RunFlags& flags,
                                      const ProviderChoice& choice,
                                      const std::vector<ModelInfo>& offered);

// Whether HTTP will probably be needed, judging by flags, settings and environment.
bool expects_http(const Context& context, const RunFlags& flags, const Settings& settings);

}  // namespace reprise::cli
