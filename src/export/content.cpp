#include "export/content.h"

#include <algorithm>

#include "base/encode.h"
#include "base/json_write.h"
#include "base/text.h"
#include "base/utf8.h"
#include "export/writer.h"
#include "model/attachment.h"
#include "reprise/capabilities.h"

namespace reprise::exporting {
namespace {

constexpr std::string_view kBase64 = ";base64,";

constexpr std::pair<std::string_view, std::string_view> kEndings[] = {
    {"image/png", "png"},   {"image/jpeg", "jpg"}, {"image/gif", "gif"},
    {"image/webp", "webp"}, {model::kPdf, "pdf"},
};

// Whether the text is a media type that is safe in a header or an attribute.
bool is_media_type(std::string_view text) {
  return !text.empty() && text.size() < 100 && std::ranges::count(text, '/') == 1 &&
         std::ranges::all_of(
             text,
             [](char c) {
               return is_ascii_alnum(c) || c == '/' || c == '-' || c == '+' || c == '.';
             });
}

std::string media_type(std::string_view text) {
  return is_media_type(text) ? std::string(text) : "application/octet-stream";
}

}  // namespace

Result<bool> read_blob(Job& job, const BlobHash& hash,
                       const std::function<Result<>(std::string_view)>& sink) {
  BlobReader* const blobs = job.source.capabilities().blob_reader;
  if (blobs == nullptr) {
    job.damage.push_back({cat("blob ", hash.str()), "the store has no blobs", ""});
    return false;
  }
  Result<> taken;
  const auto read = blobs->read_blob(hash, [&](std::string_view piece) {
    taken = sink(piece);
    return taken ? Flow::proceed : Flow::stop;
  });
  REPRISE_TRY(std::move(taken));
  if (!read) {
    job.damage.push_back({cat("blob ", hash.str()), read.error().message, ""});
  }
  return read.has_value();
}

Result<std::string> full_text(Job& job, const ToolResultBlock& result) {
  if (!result.blob) {
    return result.text;
  }
  std::string bytes;
  REPRISE_ASSIGN(const bool is_complete,
                 read_blob(job, *result.blob, [&bytes](std::string_view piece) -> Result<> {
                   bytes += piece;
                   return {};
                 }));
  return is_complete ? utf8::sanitize(bytes) : result.text;
}

std::string Media::data_url() const {
  return base64.empty() ? url : cat("data:", type, kBase64, base64);
}

Result<std::optional<Media>> read_media(Job& job, const ImageBlock& image) {
  Media media{.type = media_type(image.media_type),
              .base64 = {},
              .url = {},
              .name = {},
              .is_pdf = model::is_pdf(image)};
  if (media.is_pdf) {
    media.name = model::file_name(image);
  }
  if (image.blob) {
    std::string bytes;
    REPRISE_ASSIGN(const bool is_complete,
                   read_blob(job, *image.blob, [&bytes](std::string_view piece) -> Result<> {
                     bytes += piece;
                     return {};
                   }));
    if (!is_complete) {
      return std::nullopt;
    }
    media.base64 = base64_encode(bytes);
    return media;
  }
  const auto mark = image.url.find(kBase64);
  if (image.url.starts_with("data:") && mark != std::string::npos &&
      base64_decode(std::string_view(image.url).substr(mark + kBase64.size()))) {
    if (image.media_type.empty()) {
      media.type = media_type(std::string_view(image.url).substr(5, mark - 5));
    }
    media.base64 = image.url.substr(mark + kBase64.size());
    return media;
  }
  media.url = image.url;
  return media;
}

Result<std::string> content_array(Job& job, const Message& message, const TextElement& of_text,
                                  const MediaElement& of_media) {
  std::string out;
  json::ArrayWriter array(out);
  for (const Block& block : message.blocks) {
    std::string element;
    if (const auto* text = std::get_if<TextBlock>(&block); text != nullptr) {
      element = of_text(text->text);
    } else if (const auto* image = std::get_if<ImageBlock>(&block); image != nullptr) {
      REPRISE_ASSIGN(const std::optional<Media> media, read_media(job, *image));
      element = media ? of_media(*media) : "";
    }
    if (!element.empty()) {
      array.item();
      out += element;
    }
  }
  array.close();
  return out;
}

std::string_view ending_of(std::string_view media_type) {
  for (const auto& [type, ending] : kEndings) {
    if (type == media_type) {
      return ending;
    }
  }
  return "bin";
}

}  // namespace reprise::exporting
