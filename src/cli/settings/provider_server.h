#pragma once

// Which server a provider is asked at, and with which key.

#include "cli/program/context.h"           // IWYU pragma: export
#include "cli/settings/provider_choice.h"  // IWYU pragma: export
#include "cli/settings/provider_names.h"   // IWYU pragma: export
#include "cli/settings/run_flags.h"        // IWYU pragma: export
#include "reprise/session.h"               // IWYU pragma: export

namespace reprise::cli {

// What a choice is made from; `session` may be null.
struct ChoiceSources {
  Context& context;
  const Settings& settings;
  const RunFlags& flags;
  const Session* session;
};

using Slot = std::optional<std::string> ProviderSettings::*;

// The provider's own section first; the keys at the top of a file belong to the provider named
// beside them, and without one to the provider of the settings.
std::optional<std::string> setting(const Settings& settings, const NamedProvider& provider,
                                   Slot slot);

// The provider's base URL where the session does not say another; "" for the kind's own.
std::string usual_url(const ChoiceSources& from, const NamedProvider& provider);

// The server, and the key that belongs to it. unauthorized where there is none, or where it would
// cross the network in clear text.
Result<> reach(const ChoiceSources& from, const NamedProvider& provider, ProviderChoice& choice);

}  // namespace reprise::cli
