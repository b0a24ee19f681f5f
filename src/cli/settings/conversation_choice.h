#pragma once

// With what a conversation is held: its mode, its tools, and what goes into every request.

#include "cli/settings/provider_choice.h"
#include "reprise/conversation.h"
#include "reprise/source.h"

namespace reprise::cli {

// Null without --mode. not_found, naming the modes that there are.
Result<const Mode*> find_mode(const Settings& settings, const RunFlags& flags);

// "all", "none", or names between commas. not_found, naming the tools that there are.
Result<ToolRegistry> choose_tools(std::string_view list);

ProviderOptions provider_options(const Settings& settings, const ProviderChoice& choice);

// From the flags, what the session (or null) was held with, and the settings, in this order.
ConversationOptions conversation_options(const Settings& settings, const RunFlags& flags,
                                         const ProviderChoice& choice, const Session* session);

// Who asks: as the settings say, or else whom the server of the store knows. nullopt for nobody.
// invalid_argument for a name that is none.
Result<std::optional<Author>> choose_author(const Settings& settings, Source* source);

}  // namespace reprise::cli
