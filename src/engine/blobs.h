#pragma once

// Large bytes beside the messages: put there when they come, read back for a request.

#include "reprise/store.h"

namespace reprise {

inline constexpr std::size_t kInlineBytesMax = 64 << 10;   // larger outputs become blobs
inline constexpr std::size_t kExcerptBytes = 4 << 10;      // of them, in the message
inline constexpr std::size_t kResultBytesMax = 256 << 10;  // of a result, in a request
inline constexpr std::size_t kImageBytesMax = 20 << 20;

// The blob, at most `bytes_max` of it. unsupported when the store offers none.
Result<std::string> read_blob(Store* store, const BlobHash& hash, std::size_t bytes_max);

// The text of a tool's output for a message: whole, or its beginning and a blob with all of it.
ToolResultBlock tool_result_block(Store* store, const std::string& call, std::string_view output);

// The tokens a request spends on blobs that stand for this message's text.
TokenCount blob_tokens(const Message& message);

// An image given as a data URL, as a blob when the store offers them.
ImageBlock stored_image(Store* store, ImageBlock image);

// "data:image/png;base64,…" of a blob; an error when it is missing, too large or no known picture.
// `media_type` is what it was said to be, for a kind that its bytes do not tell.
Result<std::string> image_data_url(Store* store, const BlobHash& blob, std::string_view media_type);

// The longest beginning of whole characters within `bytes_max`.
std::string_view text_prefix(std::string_view text, std::size_t bytes_max);

}  // namespace reprise
