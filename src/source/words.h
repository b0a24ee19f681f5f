#pragma once

// Who wrote a part of a message: programs add texts of their own to what a person typed.

#include "base/json_view.h"   // IWYU pragma: export
#include "reprise/message.h"  // IWYU pragma: export
#include "reprise/session.h"
#include "source/tree.h"

namespace reprise::source {

// What a person wrote of a text in a person's message; "" if a program wrote all of it.
std::string words_of_person(std::string_view text);
// The first such words of content, which is a text or a list of blocks.
std::string first_words(JsonView content);
// Those of a question whose texts have no extra fields.
std::string first_words(Message question);
// Marks what programs wrote in a person's message, and divides a text that has both.
void mark_program_texts(Message& message);

// Gives a session without a title, and without a question, one from the first messages of the
// branch in use: the first words of the model, else those of a program. `message` builds one of its
// nodes.
void complete_title(
    SessionInfo& info, const Tree& tree,
    const std::function<Result<Message>(std::span<const std::uint32_t> nodes)>& message);

// A title that the tool stored: "" for what it writes until there is one.
std::string title_by_tool(std::string_view stored);

}  // namespace reprise::source
