#pragma once

// What of a message stands elsewhere: large results, images and documents.

#include "export/writer.h"

namespace reprise::exporting {

// The blob in pieces. One that cannot be read is damage of the job, and false.
Result<bool> read_blob(Job& job, const BlobHash& hash,
                       const std::function<Result<>(std::string_view)>& sink);

// The whole text of a result; what the message has of it where the rest cannot be read.
Result<std::string> whole_text(Job& job, const ToolResultBlock& result);

// An image or document: its bytes, or where it is.
struct Media {
  std::string type;    // "image/png"; never empty
  std::string base64;  // "" when there is only a URL
  std::string url;     // http…; "" when there are bytes
  std::string name;    // of a document: "plan.pdf"

  std::string data_url() const;  // or the other URL
};
// nullopt when it cannot be read, which is damage of the job.
Result<std::optional<Media>> read_media(Job& job, const ImageBlock& image);

// "png" for image/png; "bin" for what is not known.
std::string_view ending_of(std::string_view media_type);

}  // namespace reprise::exporting
