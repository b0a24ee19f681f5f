#pragma once

// The paths of a format with a single file: FILE itself, FILE.lock for writers, FILE.answer with
// the text of a running answer, and FILE.trash, whose form depends on the format.

#include "base/json_scan.h"
#include "reprise/open_store.h"
#include "store/document/document_format.h"

namespace reprise::store {

class OneFile : public DocumentFormat {
 public:
  // `file` must be absolute and not a link.
  explicit OneFile(std::filesystem::path file) : file_(std::move(file)) {}

  const std::filesystem::path& root() const override { return file_; }
  std::filesystem::path lock_file() const override;
  Result<std::filesystem::path> partial_file(const SessionId& id) const override;
  Result<std::optional<std::filesystem::path>> find_file(const SessionId& id) const override;
  Result<std::vector<std::filesystem::path>> files() const override;
  std::filesystem::path place(const Session& session) const override;

 protected:
  // The path of this session in the trash.
  virtual std::filesystem::path trash_of(const SessionId& id) const = 0;
  // All existing files of the trash, in order.
  virtual Result<std::vector<std::filesystem::path>> trashed() const = 0;
  std::filesystem::path trash() const;

 private:
  const std::filesystem::path file_;
};

// When opening for reading only: not_found if neither the file nor a file beside it exists.
Result<> check_one_file(const OneFile& files, const std::filesystem::path& named,
                        const StoreOptions& options);

// Whether the file exists and is one intact JSON object. `read_member` reads or skips the value of
// each member, as for Scanner::object().
Result<bool> is_object_file(
    const std::filesystem::path& file,
    const std::function<bool(std::string_view name, json::Scanner& scanner)>& read_member);

}  // namespace reprise::store
