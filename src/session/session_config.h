#pragma once

// What a session determines of its conversations: the settings stored with it (Session::config),
// and the system prompt, which is its own, its mode's, or the default one.

#include "reprise/conversation.h"
#include "reprise/mode.h"
#include "reprise/session.h"

namespace reprise {

// Stores the URL of a server that is not the provider's default, so that the session returns to it.
// Secrets in the URL are not stored, and must be in the settings again. "" for the default server.
RawJson session_config(std::string_view base_url);

std::string stored_base_url(const Session& session);  // "" for the default server

// Numbers may be stored as text, as some programs do; malformed and negative ones are ignored.
std::optional<double> stored_temperature(const Session& session);
std::optional<std::int64_t> stored_max_tokens(const Session& session);  // ignores 0, too

// Where instructions come from, and who is notified.
struct SystemPromptSources {
  const std::map<std::string, Mode, std::less<>>& modes;
  std::optional<std::string> default_text = std::nullopt;  // for sessions without a mode
  std::filesystem::path folder = {};                       // for sessions without a folder
  ContextObserver observer = {};  // of a mode's context; warned if it is missing
};

// The instructions of a session that does not store them: its mode's, or the default ones. A
// missing mode or file is reported as a warning.
std::optional<std::string> system_prompt_of(const SystemPromptSources& sources,
                                            const Session& session, std::stop_token stop);

// Prepares a new session for a store without messages. Its folder is cleared unless the mode has
// one, and the mode's instructions, which are read again each time, are moved to `options`.
void clear_system_prompt(Session& session, const Mode* mode, ConversationOptions& options);

// The instructions for a resumed session; nullopt: its own system prompt. `mode` is the requested
// mode, or null.
Result<std::optional<std::string>> resumed_system_prompt(const SystemPromptSources& sources,
                                                         const Mode* mode, const Store* store,
                                                         const Session& session,
                                                         std::stop_token stop);

}  // namespace reprise
