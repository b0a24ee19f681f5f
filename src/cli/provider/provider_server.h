#pragma once

// Chooses a provider's server and key.

#include "cli/program/context.h"           // IWYU pragma: export
#include "cli/provider/provider_choice.h"  // IWYU pragma: export
#include "cli/settings/provider_names.h"   // IWYU pragma: export
#include "cli/settings/run_flags.h"        // IWYU pragma: export
#include "reprise/session.h"               // IWYU pragma: export

namespace reprise::cli {

// The input of a choice; `session` may be null.
struct ChoiceSources {
  Context& context;
  const Settings& settings;
  const RunFlags& flags;
  const Session* session;
};

using Slot = std::optional<std::string> ProviderSettings::*;

// The value in the provider's own section, else at the top of a file. The latter belongs to the
// provider named beside it, or else to the provider of the settings.
std::optional<std::string> setting(const Settings& settings, const NamedProvider& provider,
                                   Slot slot);

// The provider's base URL unless the session has another; "" for the kind's default.
std::string base_url_for(const ChoiceSources& from, const NamedProvider& provider);

// Sets the server and the key that belongs to it. unauthorized if there is no key, or if it would
// be sent in clear text.
Result<> reach(const ChoiceSources& from, const NamedProvider& provider, ProviderChoice& choice);

}  // namespace reprise::cli
