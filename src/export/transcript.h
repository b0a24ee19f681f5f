#pragma once

// A session as Markdown for reading. All foreign text in it is sanitized for terminals.

#include <filesystem>

#include "reprise/conversation.h"  // IWYU pragma: export

namespace reprise {

// shortened: only the beginnings of tool inputs, tool results and thinking.
enum class Detail : std::uint8_t { shortened, full };

// The prompt history, for sessions whose messages are missing; "" if it is empty.
std::string transcript_prompts(const std::vector<std::string>& newest_first);

// Without a source, the session has no id that leads to it.
std::string transcript_head(Source* source, const Session& session);
// One block of a message.
std::string transcript_block(const Block& block, Detail detail);
std::string transcript_message(const Message& message, Detail detail);
// What its texts cite, as a numbered list; "" for nothing. Part of transcript_message().
std::string transcript_sources(const Message& message);
// " · running" or " · incomplete".
std::string_view unfinished_note(const UnfinishedAnswer& answer);
// Whether `last` is a question without an answer, and none is being generated.
bool is_unanswered(const SessionSnapshot& now, const Message* last);
inline constexpr std::string_view kNoAnswer = "(no answer)";
// What follows the stored messages: an unfinished answer, or a note that there is none. "" if the
// last answer is complete.
std::string transcript_end(const SessionSnapshot& now, const Message* last, Detail detail);

// Writes the whole transcript into a new file, with messages that are not in the source at the end.
// A null source has no messages. conflict if the file exists.
Result<> write_transcript(Source* source, const Session& session, std::vector<Message> unsaved,
                          const std::filesystem::path& named);

}  // namespace reprise
