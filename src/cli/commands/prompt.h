#pragma once

// What is asked: words, a pipe and attached files, put together.

#include "reprise/message.h"

namespace reprise::cli {

inline constexpr std::int64_t kPromptBytesMax = 32 << 20;
inline constexpr std::int64_t kAttachmentBytesMax = 32 << 20;

// Whether file descriptor 0 is a pipe, a file or a socket, which is read without being asked.
bool input_is_piped();

// Standard input up to its end; invalid_argument beyond kPromptBytesMax.
Result<std::string> read_input();

// The words, then what was piped, parted by an empty line.
std::string join_prompt(const std::vector<std::string>& words, std::string_view piped);

// A file as a block: text under a heading with its name, or an image or a PDF as a data URL (which
// the conversation stores as a blob). An http or https URL stays one: the provider fetches it. What
// it is its ending tells, or `image:` or `pdf:` before it; invalid_argument when neither does.
Result<Block> attach_file(const std::string& path);

// Whether it is a PDF that the provider would have to fetch.
bool is_pdf_by_url(const Block& block);

}  // namespace reprise::cli
