#pragma once

// The texts of sessions and messages are UTF-8. What a caller passes is checked, so that a store
// never changes it silently. What comes from elsewhere (a model, a tool, a foreign file, another
// store) is never refused: it is mended first. A folder is a path, not a text: any bytes but NUL.

#include <span>

#include "reprise/message.h"
#include "reprise/session.h"

namespace reprise::model {

// invalid_argument, which names the field, for bytes that are not UTF-8, for a NUL in a folder, and
// for a message without a role.
Result<> check(const Session& session);
Result<> check(const SessionPatch& patch);
Result<> check(const Message& message);
Result<> check(std::span<const Message> messages);
Result<> check(std::span<const Todo> todos);
Result<> check_text(std::string_view name, std::string_view text);

// The role of a message that came without one.
inline constexpr std::string_view kUnknownRole = "unknown";

// Makes a value that check() accepts. Bytes that are not UTF-8 become U+FFFD, and an extra field
// preserves them: "original_base64" of a block's text (as text_block() does), "NAME_base64" of any
// other. Returns whether anything was changed.
bool mend(Session& session);
bool mend(Message& message);

}  // namespace reprise::model
