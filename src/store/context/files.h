#pragma once

// The files of a context store: FILE itself, FILE.lock, FILE.answer (the text of a running answer),
// FILE.trash/ID.json (a trashed conversation, as a file of the same format), and
// FILE.trash/ID.json.answer (its running answer, if it was trashed together with the file).

#include <filesystem>

#include "reprise/store.h"
#include "store/context/codec.h"
#include "store/document/document_format.h"
#include "store/document/one_file.h"

namespace reprise::store::context {

class ContextFiles final : public OneFile {
 public:
  // The file's path must be absolute and not a link.
  explicit ContextFiles(Origin origin) : OneFile(origin.file), origin_(std::move(origin)) {}

  SourceCapabilities holds() const override {
    return {.many_sessions = false, .many_folders = false, .open_questions = false};
  }
  bool holds_whole_turns() const override { return true; }
  std::filesystem::path pending_file() const override;
  std::filesystem::path partial_file(const SessionId& id) const override;
  std::filesystem::path partial_in_trash(const SessionId& id) const override;
  std::string pending_bytes_for(const std::filesystem::path& copy,
                                std::string bytes) const override;
  std::string aside_suffix() const override;
  Result<Document> decode(const std::filesystem::path& file, std::string_view bytes) const override;
  Result<std::string> encode(Document& document) const override;
  Document merge(const Document& written, Document found) const override;

 private:
  std::filesystem::path trash_of(const SessionId& id) const override;
  Result<std::vector<std::filesystem::path>> trashed() const override;

  const Origin origin_;
};

// Whether the file exists and has the members of a context file. False for a damaged file.
Result<bool> is_context_file(const std::filesystem::path& file);

}  // namespace reprise::store::context
