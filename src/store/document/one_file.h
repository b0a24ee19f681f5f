#pragma once

// The places of a format that is one file: FILE itself, FILE.lock where writers queue, FILE.answer
// with a running answer's text, and FILE.trash, which a format fills in its own way.

#include "reprise/open_store.h"
#include "store/document/document_format.h"

namespace reprise::store {

class OneFile : public DocumentFormat {
 public:
  // `file` is absolute and no link.
  explicit OneFile(std::filesystem::path file) : file_(std::move(file)) {}

  const std::filesystem::path& root() const override { return file_; }
  std::filesystem::path lock_file() const override;
  std::filesystem::path partial_file(const SessionId& id) const override;
  Result<std::optional<std::filesystem::path>> find_file(const SessionId& id) const override;
  Result<std::vector<std::filesystem::path>> files() const override;
  std::filesystem::path place(const Session& session) const override;

 protected:
  // Where this session is when it is in the trash.
  virtual std::filesystem::path trash_of(const SessionId& id) const = 0;
  // All files of the trash that are there, in order.
  virtual Result<std::vector<std::filesystem::path>> trashed() const = 0;
  std::filesystem::path trash() const;

 private:
  const std::filesystem::path file_;
};

// not_found when there is nothing to read only: neither the file nor what stands beside it.
Result<> check_one_file(const OneFile& files, const std::filesystem::path& named,
                        const StoreOptions& options);

}  // namespace reprise::store
