#include "cli/prompt.h"

#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encode.h"
#include "base/file.h"
#include "base/text.h"
#include "engine/attachment.h"
#include "reprise/error.h"
#include "reprise/message.h"

namespace reprise::cli {
namespace {

constexpr std::size_t kPieceBytes = 64 << 10;

// The first bytes of the image formats that providers take.
std::string_view image_type(std::string_view bytes) {
  constexpr std::pair<std::string_view, std::string_view> kMagic[] = {
      {"\x89PNG\r\n\x1a\n", "image/png"},
      {"\xFF\xD8\xFF", "image/jpeg"},
      {"GIF87a", "image/gif"},
      {"GIF89a", "image/gif"},
  };
  for (const auto& [magic, type] : kMagic) {
    if (bytes.starts_with(magic)) {
      return type;
    }
  }
  const bool webp = bytes.starts_with("RIFF") && bytes.size() > 12 && bytes.substr(8, 4) == "WEBP";
  return webp ? "image/webp" : "";
}

}  // namespace

bool input_is_piped() {
  struct stat status{};
  return ::fstat(STDIN_FILENO, &status) == 0 &&
         (S_ISFIFO(status.st_mode) || S_ISREG(status.st_mode) || S_ISSOCK(status.st_mode));
}

Result<std::string> read_input() {
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
    if (static_cast<std::int64_t>(out.size()) > kPromptBytesMax) {
      return fail(Code::invalid_argument, cat("standard input is longer than ",
                                              kPromptBytesMax >> 20, " MiB, attach a part of it"));
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
  REPRISE_ASSIGN(const std::string bytes, read_file(path, kAttachmentBytesMax));
  if (const std::string_view type = image_type(bytes); !type.empty()) {
    ImageBlock image;
    image.media_type = type;
    image.url = cat("data:", type, ";base64,", base64_encode(bytes));
    return image;
  }
  if (bytes.find('\0') != std::string::npos) {
    return fail(Code::invalid_argument,
                cat("cannot attach ", path, ": neither text nor a PNG, JPEG, GIF or WebP image"));
  }
  const std::string name = std::filesystem::path(path).filename().string();
  return attached_text(name, bytes);
}

}  // namespace reprise::cli
