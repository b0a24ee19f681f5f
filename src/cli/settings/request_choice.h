#pragma once

// What settings and flags say of requests, for the provider that was chosen.

#include "cli/program/context.h"           // IWYU pragma: export
#include "cli/settings/provider_choice.h"  // IWYU pragma: export
#include "cli/settings/run_flags.h"        // IWYU pragma: export
#include "cli/settings/settings.h"         // IWYU pragma: export
#include "reprise/provider.h"              // IWYU pragma: export

namespace reprise::cli {

// The options of this run's requests. What a flag asks for and the provider has no field for is
// unsupported; a setting that it has no field for is warned of and left out. Headers, extra and
// auth go into `choice`; those of a [providers.NAME] only where its own server is asked.
Result<RequestOptions> choose_request(Context& context, const RunFlags& flags,
                                      const Settings& settings, ProviderChoice& choice);

}  // namespace reprise::cli
