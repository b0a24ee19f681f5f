#pragma once

// Content stored outside of messages: large results, images and documents.

#include "export/writer.h"

namespace reprise::exporting {

// Passes the blob to `sink` in pieces. False if it cannot be read, which is reported as damage.
Result<bool> read_blob(Job& job, const BlobHash& hash,
                       const std::function<Result<>(std::string_view)>& sink);

// The whole text of a result; if its blob cannot be read, the beginning that the message has.
Result<std::string> full_text(Job& job, const ToolResultBlock& result);

// An image or document: its bytes or its URL.
struct Media {
  std::string type;    // never empty, for example "image/png"
  std::string base64;  // "" if there is only a URL
  std::string url;     // http(s); "" if there are bytes
  std::string name;    // of a document: "plan.pdf"
  bool is_pdf = false;

  std::string data_url() const;  // a data: URL of the bytes, or `url`
};
// nullopt if it cannot be read, which is reported as damage.
Result<std::optional<Media>> read_media(Job& job, const ImageBlock& image);

// A JSON array of a message's texts, images and documents. The functions return an element, or ""
// to leave it out; media that cannot be read is left out, too.
using TextElement = std::function<std::string(std::string_view text)>;
using MediaElement = std::function<std::string(const Media& media)>;
Result<std::string> content_array(Job& job, const Message& message, const TextElement& of_text,
                                  const MediaElement& of_media);

// The file extension: "png" for image/png; "bin" for unknown types.
std::string_view ending_of(std::string_view media_type);

}  // namespace reprise::exporting
