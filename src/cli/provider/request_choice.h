#pragma once

// Chooses a conversation's mode, tools and request options from settings and flags.

#include "choice/settings.h"               // IWYU pragma: export
#include "cli/program/context.h"           // IWYU pragma: export
#include "cli/provider/provider_choice.h"  // IWYU pragma: export
#include "cli/settings/run_flags.h"        // IWYU pragma: export
#include "reprise/conversation.h"
#include "reprise/provider.h"  // IWYU pragma: export
#include "reprise/source.h"

namespace reprise::cli {

// The options of this run's requests. If the provider does not support a flag, fails with
// unsupported; unsupported settings are ignored with a warning. Headers, extra, path and auth are
// added to `choice`; those of a [providers.NAME] only for its own server.
Result<RequestOptions> choose_request(Context& context, const RunFlags& flags,
                                      const Settings& settings, ProviderChoice& choice);

// Null without --mode. not_found lists the existing modes.
Result<const Mode*> find_mode(const Settings& settings, const RunFlags& flags);

// The error of a flag that names an unknown provider, request option or tool; "" if there is none,
// or if the settings are invalid.
std::string run_flag_error(Context& context, const RunFlags& flags);

// "all", "none", or comma-separated names. invalid_argument lists the existing tools.
Result<ToolRegistry> choose_tools(std::string_view list);

// In order of precedence: flags, the session's own values (it may be null), settings.
ConversationOptions conversation_options(const Settings& settings, const RunFlags& flags,
                                         const ProviderChoice& choice, const Session* session);

// The author of questions: from the settings, else the user known to the store's server; nullopt if
// there is none. invalid_argument for an invalid name.
Result<std::optional<Author>> choose_author(const Settings& settings, Source* source);

}  // namespace reprise::cli
