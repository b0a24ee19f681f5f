#pragma once

// The system prompt of a session: its own, its mode's, or the default one.

#include "reprise/conversation.h"
#include "reprise/mode.h"

namespace reprise {

// Where instructions come from, and who is notified.
struct InstructionSources {
  const std::map<std::string, Mode, std::less<>>& modes;
  std::optional<std::string> default_text = std::nullopt;  // for sessions without a mode
  std::filesystem::path folder = {};                       // for sessions without a folder
  std::function<void(std::string_view)> on_note = {};      // one line per item of a mode's context
  std::function<void(std::string_view)> on_warning = {};   // missing modes or files
};

// The instructions of a session that does not store them: its mode's, or the default ones. A
// missing mode or file is reported as a warning.
std::optional<std::string> instructions_of(const InstructionSources& sources,
                                           const Session& session, std::stop_token stop);

// Prepares a new session for a store without messages. Its folder is cleared unless the mode has
// one, and the mode's instructions, which are read again each time, are moved to `options`.
void strip_instructions(Session& session, const Mode* mode, ConversationOptions& options);

// The instructions for a resumed session; nullopt: its own system prompt. `mode` is the requested
// mode, or null.
Result<std::optional<std::string>> resumed_instructions(const InstructionSources& sources,
                                                        const Mode* mode, const Store* store,
                                                        const Session& session,
                                                        std::stop_token stop);

}  // namespace reprise
