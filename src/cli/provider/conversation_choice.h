#pragma once

// Chooses a conversation's mode, tools and request options.

#include "cli/provider/provider_choice.h"
#include "reprise/conversation.h"
#include "reprise/source.h"

namespace reprise::cli {

// Null without --mode. not_found lists the existing modes.
Result<const Mode*> find_mode(const Settings& settings, const RunFlags& flags);

// "all", "none", or comma-separated names. not_found lists the existing tools.
Result<ToolRegistry> choose_tools(std::string_view list);

ProviderOptions provider_options(const Settings& settings, const ProviderChoice& choice);

// In order of precedence: flags, the session's own values (it may be null), settings.
ConversationOptions conversation_options(const Settings& settings, const RunFlags& flags,
                                         const ProviderChoice& choice, const Session* session);

// The author of questions: from the settings, else the user known to the store's server; nullopt if
// there is none. invalid_argument for an invalid name.
Result<std::optional<Author>> choose_author(const Settings& settings, Source* source);

}  // namespace reprise::cli
