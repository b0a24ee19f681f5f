#pragma once

// The system prompt of a session: its own, its mode's, or the usual one.

#include "reprise/conversation.h"
#include "reprise/mode.h"

namespace reprise {

// What there is to choose from, and who hears of it.
struct InstructionSources {
  const std::map<std::string, Mode, std::less<>>& modes;
  std::optional<std::string> usual = std::nullopt;        // without a mode
  std::filesystem::path folder = {};                      // for sessions that name none
  std::function<void(std::string_view)> on_note = {};     // one line per item of a mode's context
  std::function<void(std::string_view)> on_warning = {};  // what is missing
};

// Of a session that does not keep its own: its mode's, or the usual ones. A mode that is gone, or
// whose files are, is a warning.
std::optional<std::string> instructions_of(const InstructionSources& sources,
                                           const Session& session, std::stop_token stop);

// A new session as a store without words keeps it: its folder when its mode has one, and no
// instructions of a mode, which are read anew each time. They are sent by `options` then.
void leave_out_words(Session& session, const Mode* mode, ConversationOptions& options);

// What a resumed session goes on under; nullopt: its own system prompt. `mode` is one that was
// asked for, or null.
Result<std::optional<std::string>> resumed_instructions(const InstructionSources& sources,
                                                        const Mode* mode, const Store* store,
                                                        const Session& session,
                                                        std::stop_token stop);

}  // namespace reprise
