#pragma once

// The files of an index of conversations: FILE itself, FILE.lock, and FILE.trash (the trashed rows,
// in a file of the same format, which the original program does not read).

#include "store/document/document_format.h"
#include "store/document/one_file.h"
#include "store/stored_session.h"

namespace reprise::store::chain {

class ChainFiles final : public OneFile {
 public:
  using OneFile::OneFile;

  SourceCapabilities holds() const override {
    return {.messages = false, .many_folders = false, .blocks = false, .message_details = false};
  }
  Result<Document> decode(const std::filesystem::path& file, std::string_view bytes) const override;
  Result<std::string> encode(Document& document) const override;
  Document merge(const Document& written, Document found) const override;
  Result<> check_append(const std::vector<Message>& messages) const override;
  Appended after_append(StoredSession& stored, const AppendOptions& options,
                        const Appended& appended) const override;

 private:
  std::filesystem::path trash_of(const SessionId& id) const override;
  Result<std::vector<std::filesystem::path>> trashed() const override;
};

// Whether the file exists and is an index of conversations. False for a damaged file.
Result<bool> is_chain_file(const std::filesystem::path& file);

}  // namespace reprise::store::chain
