#pragma once

// Files attached to a question. Text files are separate blocks that include the file name; PDFs are
// image blocks: their JSON type is "document", and the extra field "name" is the file name.

#include <utility>  // IWYU pragma: export
#include <variant>  // IWYU pragma: export

#include "base/json_scan.h"
#include "reprise/message.h"

namespace reprise {

// "File NAME:", a blank line, and the bytes.
TextBlock attached_text(std::string_view name, std::string_view bytes);

// The name of the attached file; nullopt for other blocks.
std::optional<std::string> attached_name(const Block& block);

// plain_text() without attached files; their names if there is nothing else.
std::string question_text(const Message& question);

}  // namespace reprise

namespace reprise::model {

inline constexpr std::string_view kPdf = "application/pdf";

// The type of an image or PDF that providers accept, by its first bytes; "" for other bytes.
std::string_view media_type_of(std::string_view bytes);

inline bool is_pdf(const ImageBlock& block) {
  return block.media_type == kPdf || block.url.starts_with("data:application/pdf;");
}

inline std::string file_name(const ImageBlock& block) {
  for (const ExtraField& field : block.extra) {
    std::string name;
    json::Scanner scanner(field.value.text());
    if (field.name == "name" && scanner.kind() == json::Kind::string && scanner.string(name)) {
      return name;
    }
  }
  return "document.pdf";
}

}  // namespace reprise::model
