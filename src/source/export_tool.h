#pragma once

// Exports: files with an array of conversations, one object each, or with lines. The conversations
// and their offsets are indexed once; a conversation is read when it is opened.

#include "source/download.h"     // IWYU pragma: export
#include "source/elements.h"     // IWYU pragma: export
#include "source/records.h"      // IWYU pragma: export
#include "source/tool_source.h"  // IWYU pragma: export

namespace reprise::source {

// A conversation of several lines, converted to an object like those of the array.
struct LinesElement {
  std::shared_ptr<const std::string> text;
  std::int64_t at = 0;  // offset of its first line in the file
  std::int64_t bytes = 0;
};

// Exports with lines. The functions are null for services that have none.
struct ExportLines {
  // Whether a file with this beginning has lines.
  bool (*are_in)(std::string_view beginning) = nullptr;
  Result<> (*each)(int fd, const FilePart& part, ReadReport& report,
                   const std::function<void(const LinesElement&)>& sink) = nullptr;
};

// The form of one service's exports.
struct ExportForm {
  Download::IsPart is_part;
  std::string_view member;  // which every conversation has
  // Opens a conversation as a session. The text of `conversation` and the assets of `download` live
  // as long as the session.
  Result<std::shared_ptr<OpenSession>> (*open)(
      const std::shared_ptr<const std::string>& conversation,
      const std::shared_ptr<const Download>& download);
  ExportLines lines = {};
};

// "conversations.json", or one of several parts: "conversations-000.json".
bool is_conversations_file(std::string_view name);

// Whether the first conversation there has this form.
Result<bool> is_export(const std::filesystem::path& location, const ExportForm& form);
Result<std::unique_ptr<Source>> open_export(const std::filesystem::path& location,
                                            const ExportForm& form);

}  // namespace reprise::source
