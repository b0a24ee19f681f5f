#pragma once

// PDFs in image blocks: their JSON type is "document", and the extra field "name" is the file name.

#include "base/json_scan.h"
#include "reprise/message.h"

namespace reprise::model {

inline constexpr std::string_view kPdf = "application/pdf";

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
