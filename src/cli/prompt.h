#pragma once

// What is asked: words, a pipe and attached files, put together.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reprise/error.h"
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

// A file as a block: text under a heading with its name, or an image as a data URL (which the
// conversation stores as a blob).
Result<Block> attach_file(const std::string& path);

}  // namespace reprise::cli
