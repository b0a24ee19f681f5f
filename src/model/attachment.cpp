#include "model/attachment.h"

#include <cstddef>

#include "base/text.h"
#include "reprise/message.h"

namespace reprise {
namespace {

constexpr std::string_view kBefore = "File ";
constexpr std::string_view kAfter = ":\n\n";

}  // namespace

TextBlock attached_text(std::string_view name, std::string_view bytes) {
  return text_block(cat(kBefore, name, kAfter, bytes));
}

std::optional<std::string> attached_name(const Block& block) {
  const auto* const text = std::get_if<TextBlock>(&block);
  if (text == nullptr || !text->text.starts_with(kBefore)) {
    return std::nullopt;
  }
  const std::string_view tail = std::string_view(text->text).substr(kBefore.size());
  const std::size_t end = tail.find(kAfter);
  if (end == std::string_view::npos || tail.substr(0, end).find('\n') != std::string_view::npos) {
    return std::nullopt;
  }
  return std::string(tail.substr(0, end));
}

std::string question_text(const Message& question) {
  Message without_files{.blocks = {}};
  std::string names;
  for (const Block& block : question.blocks) {
    if (const auto name = attached_name(block); name) {
      names += cat(names.empty() ? "" : ", ", *name);
    } else {
      without_files.blocks.push_back(block);
    }
  }
  const std::string text = plain_text(without_files);
  return text.empty() ? names : text;
}

}  // namespace reprise

namespace reprise::model {

std::string_view media_type_of(std::string_view bytes) {
  constexpr std::pair<std::string_view, std::string_view> kMagic[] = {
      {"\x89PNG", "image/png"},
      {"\xFF\xD8\xFF", "image/jpeg"},
      {"GIF8", "image/gif"},
      {"%PDF-", kPdf}};
  for (const auto& [magic, type] : kMagic) {
    if (bytes.starts_with(magic)) {
      return type;
    }
  }
  const bool is_webp =
      bytes.size() > 12 && bytes.starts_with("RIFF") && bytes.substr(8).starts_with("WEBP");
  return is_webp ? "image/webp" : "";
}

}  // namespace reprise::model
