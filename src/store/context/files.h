#pragma once

// Where a context store keeps what: FILE itself, FILE.lock, FILE.answer (a running answer's text),
// FILE.trash/ID.json (a conversation in the trash, as such a file of its own),
// FILE.trash/ID.json.answer (its running answer, where it went there with the file as it was).

#include <filesystem>

#include "reprise/store.h"
#include "store/context/codec.h"
#include "store/document/document_format.h"
#include "store/document/one_file.h"

namespace reprise::store::context {

class ContextFiles final : public OneFile {
 public:
  // The file is absolute and no link.
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

// Whether there is a file with the members of one. A damaged file is none.
Result<bool> is_context_file(const std::filesystem::path& file);

}  // namespace reprise::store::context
