#pragma once

// Where an index of conversations keeps what: FILE itself, FILE.lock, FILE.trash (the rows that are
// in the trash, as such a file of its own; the original program does not see them).

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reprise/error.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "reprise/types.h"
#include "store/file/session_files.h"

namespace reprise::store::chain {

class ChainFiles final : public SessionFiles {
 public:
  // `file` is absolute and no link.
  explicit ChainFiles(std::filesystem::path file) : file_(std::move(file)) {}

  SourceCapabilities holds() const override {
    return {.messages = false, .many_folders = false, .blocks = false, .message_details = false};
  }
  const std::filesystem::path& root() const override { return file_; }
  std::filesystem::path lock_file() const override;
  std::filesystem::path partial_file(const SessionId& id) const override;
  Result<std::optional<std::filesystem::path>> find_file(const SessionId& id) const override;
  Result<std::vector<std::filesystem::path>> files() const override;
  std::filesystem::path place(const Session& session) const override;
  Result<Document> decode(const std::filesystem::path& file, std::string_view bytes) const override;
  Result<std::string> encode(Document& document) const override;
  Document merge(const Document& written, Document found) const override;

 private:
  std::filesystem::path trash() const;

  std::filesystem::path file_;
};

// Whether there is a file with a list of conversations. A damaged file is none.
Result<bool> is_chain_file(const std::filesystem::path& file);

}  // namespace reprise::store::chain
