#pragma once

// Builds the question from arguments, piped input and attached files.

#include "reprise/message.h"

namespace reprise::cli {

inline constexpr std::int64_t kPromptBytesMax = 32 << 20;
inline constexpr std::int64_t kAttachmentBytesMax = 32 << 20;

// Whether file descriptor 0 is a pipe, a file or a socket, which is read by default.
bool input_is_piped();

// Reads standard input to its end; invalid_argument, with this advice, if it is longer.
Result<std::string> read_input(std::int64_t bytes_max = kPromptBytesMax,
                               std::string_view advice = "attach part of it");

// The words, then the piped input, separated by an empty line.
std::string join_prompt(const std::vector<std::string>& words, std::string_view piped);

// A file as a block: text under a heading with its name, or an image or a PDF as a data URL (which
// the conversation stores as a blob). For an http or https URL, the block is a link that the
// provider fetches; its type comes from the extension or a prefix `image:` or `pdf:`, otherwise
// invalid_argument.
Result<Block> attach_file(const std::string& path);

// Whether it is a PDF that the provider must fetch.
bool is_pdf_by_url(const Block& block);

}  // namespace reprise::cli
