#pragma once

// Large bytes beside the messages: stored on arrival, read back for a request.

#include "reprise/store.h"

namespace reprise {

inline constexpr std::size_t kInlineBytesMax = 64 << 10;   // larger outputs become blobs
inline constexpr std::size_t kExcerptBytes = 4 << 10;      // of such outputs, in the message
inline constexpr std::size_t kResultBytesMax = 256 << 10;  // of a result, in a request
inline constexpr std::size_t kImageBytesMax = 20 << 20;

// The blob, or its first `bytes_max` bytes.
Result<std::string> read_blob(BlobReader& blobs, const BlobHash& hash,
                              std::size_t bytes_max = std::string::npos);
// The same; unsupported when the store has no blobs.
Result<std::string> read_blob(Store* store, const BlobHash& hash, std::size_t bytes_max);

// Called with each blob that was put.
using BlobSink = std::function<void(const BlobHash& hash, std::string_view bytes)>;
inline void ignore_blob(const BlobHash& /*hash*/, std::string_view /*bytes*/) {}

// A tool's output for a message: all of it, or its beginning and a blob with all of it.
ToolResultBlock tool_result_block(Store* store, const std::string& call, std::string_view output,
                                  const BlobSink& on_put = ignore_blob);

// The estimated tokens of the blobs that a request includes for this message.
TokenCount blob_tokens(const Message& message);

// The bytes of an image given as a data URL; nullopt for others.
std::optional<std::string> embedded_image(const ImageBlock& image);
// Replaces the data URL of an image.
void refer_to_blob(ImageBlock& image, BlobHash hash);

// Stores an image given as a data URL as a blob, if the store supports blobs. One that the store
// cannot hold remains as it is.
Result<ImageBlock> put_image(Store* store, ImageBlock image, const BlobSink& on_put = ignore_blob);
// The same; the image also remains as it is if the store fails.
ImageBlock stored_image(Store* store, ImageBlock image, const BlobSink& on_put = ignore_blob);

// Makes blobs again of what a store without them had to hold in the message: images, and results
// that had a blob.
Result<> put_embedded(Store* store, Message& message);

// "data:image/png;base64,…" of a blob; an error when it is missing, too large or not a known image.
// `media_type` is the declared type, used if the bytes do not identify one.
Result<std::string> image_data_url(Store* store, const BlobHash& blob, std::string_view media_type);

// The longest prefix of whole characters within `bytes_max`.
std::string_view text_prefix(std::string_view text, std::size_t bytes_max);

}  // namespace reprise
