#pragma once

// Exports: files with an array of conversations, one object each. The conversations and their
// offsets are indexed once; a conversation is read when it is opened.

#include "source/download.h"     // IWYU pragma: export
#include "source/elements.h"     // IWYU pragma: export
#include "source/tool_source.h"  // IWYU pragma: export

namespace reprise::source {

// The form of one service's exports.
struct ExportForm {
  Download::IsPart is_part;
  std::string_view member;  // which every conversation has
  // Opens a conversation as a session. The text of `conversation` and the assets of `download` live
  // as long as the session.
  Result<std::shared_ptr<OpenSession>> (*open)(
      const std::shared_ptr<const std::string>& conversation,
      const std::shared_ptr<const Download>& download);
};

// "conversations.json", or one of several parts: "conversations-000.json".
bool is_conversations_file(std::string_view name);

// Whether the first conversation there has this form.
Result<bool> is_export(const std::filesystem::path& place, const ExportForm& form);
Result<std::unique_ptr<Source>> open_export(const std::filesystem::path& place,
                                            const ExportForm& form);

}  // namespace reprise::source
