#pragma once

// A session as Markdown, for people. Everything foreign in it has passed the terminal gate.

#include <filesystem>

#include "reprise/store.h"

namespace reprise::cli {

// Shortened: tool inputs, tool results and thinking show their beginning only.
enum class Detail : std::uint8_t { shortened, full };

// What was asked where the messages do not tell; "" when it is not known either.
std::string transcript_prompts(const std::vector<std::string>& newest_first);

std::string transcript_head(const Session& session);
// One block of a message.
std::string transcript_block(const Block& block, Detail detail);
std::string transcript_message(const Message& message, Detail detail);

// The transcript as Markdown into a new file. conflict when it exists.
Result<> write_transcript(Source& source, const Session& session,
                          const std::filesystem::path& named);

}  // namespace reprise::cli
