#pragma once

// Where a context store keeps what: FILE itself, FILE.lock, FILE.answer (a running answer's text),
// FILE.trash/ID.json (a conversation in the trash, as such a file of its own).

#include <cstdint>
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
#include "store/context/codec.h"
#include "store/file/session_files.h"

namespace reprise::store::context {

class ContextFiles final : public SessionFiles {
 public:
  // The file is absolute and no link.
  explicit ContextFiles(Origin origin) : origin_(std::move(origin)), file_(origin_.file) {}

  SourceCapabilities holds() const override {
    return {.many_sessions = false, .many_folders = false, .open_questions = false};
  }
  bool holds_whole_turns() const override { return true; }
  std::filesystem::path held_file() const override;
  std::string held_for(const std::filesystem::path& copy, std::string bytes) const override;
  std::string aside_suffix() const override;
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
  std::filesystem::path trash_of(const SessionId& id) const;

  const Origin origin_;
  const std::filesystem::path& file_;
};

}  // namespace reprise::store::context
