#include "cli/session/prompt.h"

#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/encode.h"
#include "base/file.h"
#include "base/text.h"
#include "base/utf8.h"
#include "model/attachment.h"
#include "reprise/message.h"

namespace reprise::cli {
namespace {

constexpr std::size_t kPieceBytes = 64 << 10;

bool is_url(std::string_view text) {
  const std::string start = ascii_lower(text.substr(0, 8));
  return start.starts_with("http://") || start == "https://";
}

// The type by the URL's extension; "" if unknown.
std::string_view type_of_url(std::string_view url) {
  constexpr std::pair<std::string_view, std::string_view> kEndings[] = {
      {".png", "image/png"}, {".jpg", "image/jpeg"},  {".jpeg", "image/jpeg"},
      {".gif", "image/gif"}, {".webp", "image/webp"}, {".pdf", model::kPdf},
  };
  const std::string path = ascii_lower(url.substr(0, url.find_first_of("?#")));
  for (const auto& [ending, type] : kEndings) {
    if (path.ends_with(ending)) {
      return type;
    }
  }
  return "";
}

Result<Block> attach_url(std::string_view url, std::string_view type) {
  if (type.empty()) {
    return fail(Code::invalid_argument, cat("cannot tell what ", url, " is: write pdf:URL or ",
                                            "image:URL, or download it and attach the file"));
  }
  if (url.find_first_of(" \t\r\n") != std::string_view::npos || !utf8::is_valid(url)) {
    return fail(Code::invalid_argument, "the URL to attach contains spaces or is not UTF-8");
  }
  return ImageBlock{std::string(type), {}, std::string(url), {}};
}

}  // namespace

bool input_is_piped() {
  struct stat status{};
  return ::fstat(STDIN_FILENO, &status) == 0 &&
         (S_ISFIFO(status.st_mode) || S_ISREG(status.st_mode) || S_ISSOCK(status.st_mode));
}

Result<std::string> read_input(std::int64_t bytes_max, std::string_view advice) {
  std::string out;
  std::array<char, kPieceBytes> piece{};
  for (;;) {
    const ssize_t count = ::read(STDIN_FILENO, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      return std::unexpected(os_error("read", "standard input", errno));
    }
    if (count == 0) {
      return out;
    }
    out.append(piece.data(), static_cast<std::size_t>(count));
    if (static_cast<std::int64_t>(out.size()) > bytes_max) {
      return fail(Code::invalid_argument,
                  cat("standard input is longer than ", bytes_max >> 20, " MiB; ", advice));
    }
  }
}

std::string join_prompt(const std::vector<std::string>& words, std::string_view piped) {
  std::string out;
  for (const std::string& word : words) {
    out += cat(out.empty() ? "" : " ", word);
  }
  if (!piped.empty()) {
    out += cat(out.empty() ? "" : "\n\n", piped);
  }
  return out;
}

Result<Block> attach_file(const std::string& path) {
  for (const auto& [prefix, type] :
       {std::pair<std::string_view, std::string_view>("", type_of_url(path)),
        {"pdf:", model::kPdf},
        {"image:", "image/*"}}) {
    const std::string_view url =
        std::string_view(path).substr(std::min(prefix.size(), path.size()));
    if (path.starts_with(prefix) && is_url(url)) {
      return attach_url(url, type);
    }
  }
  REPRISE_ASSIGN(const std::filesystem::path file, resolve_path(path));
  REPRISE_ASSIGN(const std::string bytes, read_named_file(file, kAttachmentBytesMax));
  if (const std::string_view type = model::media_type_of(bytes); !type.empty()) {
    ImageBlock image;
    image.media_type = type;
    image.url = cat("data:", type, ";base64,", base64_encode(bytes));
    if (type == model::kPdf) {
      const std::string name = std::filesystem::path(path).filename().string();
      image.extra.push_back({"name", RawJson::string(name)});
    }
    return image;
  }
  if (bytes.contains('\0')) {
    return fail(
        Code::invalid_argument,
        cat("cannot attach ", path, ": neither text nor a PDF nor a PNG, JPEG, GIF or WebP image"));
  }
  const std::string name = std::filesystem::path(path).filename().string();
  return attached_text(name, bytes);
}

bool is_pdf_by_url(const Block& block) {
  const auto* const file = std::get_if<ImageBlock>(&block);
  return file != nullptr && model::is_pdf(*file) && is_url(file->url);
}

}  // namespace reprise::cli
