#pragma once

// Applies settings and flags to the chosen provider's requests.

#include "cli/program/context.h"           // IWYU pragma: export
#include "cli/provider/provider_choice.h"  // IWYU pragma: export
#include "cli/settings/run_flags.h"        // IWYU pragma: export
#include "cli/settings/settings.h"         // IWYU pragma: export
#include "reprise/provider.h"              // IWYU pragma: export

namespace reprise::cli {

// The options of this run's requests. If the provider does not support a flag, fails with
// unsupported; unsupported settings are ignored with a warning. Headers, extra and auth are added
// to `choice`; those of a [providers.NAME] only for its own server.
Result<RequestOptions> choose_request(Context& context, const RunFlags& flags,
                                      const Settings& settings, ProviderChoice& choice);

}  // namespace reprise::cli
