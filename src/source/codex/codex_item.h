#pragma once

// The meaning of an item in a Codex thread.

#include "source/transcript.h"  // IWYU pragma: export

namespace reprise::source::codex {

// The role of an item in the conversation.
enum class ItemKind : std::uint8_t { none, person, model, result, program };
ItemKind kind_of_item(JsonView item);
// The item of a line; the first versions wrote items without an envelope.
JsonView item_of(JsonView record);
// The text of a user's message, without what the program added.
std::string person_text(JsonView item);
// Whether the item itself says that a program wrote it.
bool is_program_text(JsonView item);
bool names_author(JsonView item);
Usage usage_of(JsonView counts, std::string_view response);
// Makes a message from its lines: one item, or all items of one answer, of this provider.
Message message_of(std::span<const Piece> pieces, const std::string& provider);

// A flag in Node::detail, which also has the number of the model's name.
inline constexpr std::uint32_t kCutBit = 1U << 31U;

}  // namespace reprise::source::codex
