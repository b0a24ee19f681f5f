#include "engine/blobs.h"

#include <algorithm>

#include "base/encode.h"
#include "base/json_scan.h"
#include "base/text.h"
#include "base/utf8.h"
#include "model/attachment.h"
#include "reprise/capabilities.h"
#include "reprise/store.h"

namespace reprise {
namespace {

constexpr std::string_view kBytesField = "blob_bytes";  // the size of a result's blob
constexpr std::string_view kBase64Marker = ";base64,";

Blobs* blobs_of(Store* store) {
  return store == nullptr ? nullptr : store->capabilities().blobs;
}

}  // namespace

std::string_view text_prefix(std::string_view text, std::size_t bytes_max) {
  const std::string_view head = text.substr(0, bytes_max);
  return head.size() == text.size() ? head
                                    : head.substr(0, head.size() - utf8::incomplete_tail(head));
}

Result<std::string> read_blob(BlobReader& blobs, const BlobHash& hash, std::size_t bytes_max) {
  std::string bytes;
  const auto sink = [&](std::string_view piece) {
    bytes += piece.substr(0, bytes_max - bytes.size());
    return bytes.size() < bytes_max ? Flow::proceed : Flow::stop;
  };
  REPRISE_TRY(blobs.read_blob(hash, sink));
  return bytes;
}

Result<std::string> read_blob(Store* store, const BlobHash& hash, std::size_t bytes_max) {
  Blobs* blobs = blobs_of(store);
  return blobs == nullptr ? fail(Code::unsupported, "this store has no blobs")
                          : read_blob(*blobs, hash, bytes_max);
}

ToolResultBlock tool_result_block(Store* store, const std::string& call, std::string_view output,
                                  const BlobSink& on_put) {
  ToolResultBlock result{
      .tool_use_id = call, .text = {}, .is_error = false, .blob = {}, .extra = {}};
  Blobs* blobs = output.size() > kInlineBytesMax ? blobs_of(store) : nullptr;
  if (blobs != nullptr) {
    if (auto hash = blobs->put_blob(output); hash) {
      on_put(*hash, output);
      result.blob = *std::move(hash);
      result.text =
          cat(utf8::sanitize(text_prefix(output, kExcerptBytes)), "\n[the first ", kExcerptBytes,
              " of ", output.size(), " bytes; the rest is kept as a blob]");
      result.extra.push_back({std::string(kBytesField), *RawJson::parse(cat(output.size()))});
      return result;
    }
  }
  TextBlock text = text_block(output);  // preserves invalid UTF-8 beside the readable form
  result.text = std::move(text.text);
  result.extra = std::move(text.extra);
  return result;
}

Result<> put_embedded(Store* store, Message& message) {
  for (Block& block : message.blocks) {
    if (auto* const image = std::get_if<ImageBlock>(&block); image != nullptr) {
      REPRISE_ASSIGN(*image, put_image(store, std::move(*image)));
    }
    auto* const result = std::get_if<ToolResultBlock>(&block);
    if (result != nullptr && !result->blob &&
        json::find_field(result->extra, kBytesField) != nullptr) {
      ToolResultBlock stored = tool_result_block(store, result->tool_use_id, result->text);
      if (stored.blob) {
        result->text = std::move(stored.text);
        result->blob = std::move(stored.blob);
      }
    }
  }
  return {};
}

TokenCount blob_tokens(const Message& message) {
  TokenCount tokens;
  for (const Block& block : message.blocks) {
    const auto* result = std::get_if<ToolResultBlock>(&block);
    if (result == nullptr || !result->blob) {
      continue;
    }
    std::int64_t bytes = kResultBytesMax;
    for (const ExtraField& field : result->extra) {
      if (field.name == kBytesField) {
        const auto& digits = field.value.text();
        const bool is_small = digits.size() < 10 && std::ranges::all_of(digits, is_ascii_digit);
        bytes = is_small ? std::min<std::int64_t>(bytes, std::stol(digits)) : bytes;
      }
    }
    tokens += {bytes / 4};
  }
  return tokens;
}

std::optional<std::string> embedded_image(const ImageBlock& image) {
  const auto marker = image.url.find(kBase64Marker);
  return image.blob || !image.url.starts_with("data:") || marker == std::string::npos
             ? std::nullopt
             : base64_decode(std::string_view(image.url).substr(marker + kBase64Marker.size()));
}

void refer_to_blob(ImageBlock& image, BlobHash hash) {
  if (image.media_type.empty()) {
    constexpr std::size_t kSchemeBytes = 5;  // "data:"
    image.media_type = image.url.substr(kSchemeBytes, image.url.find(kBase64Marker) - kSchemeBytes);
  }
  image.blob = std::move(hash);
  image.url.clear();
}

Result<ImageBlock> put_image(Store* store, ImageBlock image, const BlobSink& on_put) {
  Blobs* const blobs = blobs_of(store);
  const auto bytes = blobs == nullptr ? std::nullopt : embedded_image(image);
  if (!bytes) {
    return image;
  }
  auto hash = blobs->put_blob(*bytes);
  if (hash) {
    on_put(*hash, *bytes);
    refer_to_blob(image, *std::move(hash));
  } else if (hash.error().code != Code::unsupported &&
             hash.error().code != Code::invalid_argument) {
    return std::unexpected(std::move(hash).error());
  }
  return image;
}

ImageBlock stored_image(Store* store, ImageBlock image, const BlobSink& on_put) {
  return put_image(store, image, on_put).value_or(image);
}

Result<std::string> image_data_url(Store* store, const BlobHash& blob,
                                   std::string_view media_type) {
  REPRISE_ASSIGN(const std::string bytes, read_blob(store, blob, kImageBytesMax + 1));
  if (bytes.size() > kImageBytesMax) {
    return fail(Code::invalid_argument, "the image is larger than 20 MiB");
  }
  const std::string_view sniffed = model::media_type_of(bytes);
  const std::string_view type = sniffed.empty() ? media_type : sniffed;
  if (!type.starts_with("image/") && type != model::kPdf) {
    return fail(Code::invalid_argument, "the image is of an unknown type");
  }
  return cat("data:", type, kBase64Marker, base64_encode(bytes));
}

}  // namespace reprise
