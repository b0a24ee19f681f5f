#pragma once

// What an item of a Codex thread means.

#include "source/transcript.h"

namespace reprise::source::codex {

// What an item is in a conversation.
enum class ItemKind : std::uint8_t { none, person, model, result, program };
ItemKind kind_of_item(JsonView item);
// The item of a line, which the first versions wrote bare.
JsonView item_of(JsonView record);
// What a person's message says, without what the program put beside it.
std::string person_text(JsonView item);
// Whether the item itself tells who wrote it, and it was no person.
bool is_program_text(JsonView item);
bool tells_its_writer(JsonView item);
Usage usage_of(JsonView used, std::string_view response);
// The lines of one message: one item, or those of one answer.
Message message_of(std::span<const Piece> pieces);

// In Node::detail, beside the number of the model's name.
inline constexpr std::uint32_t kCutBit = 1U << 31U;

}  // namespace reprise::source::codex
