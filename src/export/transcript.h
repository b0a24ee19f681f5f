#pragma once

// A session as Markdown, for people. Everything foreign in it has passed the terminal gate.

#include <filesystem>

#include "reprise/conversation.h"  // IWYU pragma: export

namespace reprise {

// Shortened: tool inputs, tool results and thinking show their beginning only.
enum class Detail : std::uint8_t { shortened, full };

// What was asked where the messages do not tell; "" when it is not known either.
std::string transcript_prompts(const std::vector<std::string>& newest_first);

std::string transcript_head(Source& source, const Session& session);
// One block of a message.
std::string transcript_block(const Block& block, Detail detail);
std::string transcript_message(const Message& message, Detail detail);
// " · running" or " · incomplete".
std::string_view unfinished_note(const UnfinishedAnswer& answer);
// Whether the question that `last` is has no answer, and none is coming.
bool is_unanswered(const SessionNow& now, const Message* last);
inline constexpr std::string_view kNoAnswer = "(no answer)";
// What stands behind the messages: an unfinished answer, or that there is none. "" when the last
// answer is a message.
std::string transcript_end(const SessionNow& now, const Message* last, Detail detail);

// All of it as Markdown into a new file. conflict when it exists.
Result<> write_transcript(Source& source, const Session& session,
                          const std::filesystem::path& named);

}  // namespace reprise
