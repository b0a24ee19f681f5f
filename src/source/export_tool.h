#pragma once

// Exports: files with an array of conversations, each of them one object. Which conversations there
// are is looked up once and kept, with where each stands; a conversation is read when it is opened.

#include "source/download.h"
#include "source/elements.h"
#include "source/tool_source.h"

namespace reprise::source {

// What one service's exports look like.
struct ExportForm {
  Download::IsPart is_part;
  std::string_view member;  // that each conversation has
  // The session of a conversation. The text of `conversation` lives as long as the session; assets
  // of the download too.
  Result<std::shared_ptr<OpenSession>> (*open)(std::shared_ptr<const std::string> conversation,
                                               std::shared_ptr<const Download> download);
};

// "conversations.json", or shards: "conversations-000.json".
bool is_conversations_file(std::string_view name);

// Whether the first conversation there is one of this form.
Result<bool> is_export(const std::filesystem::path& place, const ExportForm& form);
Result<std::unique_ptr<Source>> open_export(const std::filesystem::path& place,
                                            const ExportForm& form);

}  // namespace reprise::source
