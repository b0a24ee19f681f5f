#pragma once

// Verification, repair and backup of a document store.

#include <map>
#include <set>

#include "base/file.h"
#include "reprise/capabilities.h"

namespace reprise::store {

class DocumentFormat;
class Documents;

class DocumentMaintenance {
 public:
  DocumentMaintenance(const DocumentFormat& format, Documents& documents);

  Result<VerifyReport> verify();
  Result<VerifyReport> repair_into(const std::filesystem::path& target);
  Result<> backup(const std::filesystem::path& target);

 private:
  // The files of the store at one moment.
  using State = std::map<std::filesystem::path, FileIdentity>;
  Result<State> state() const;
  using Contents = std::map<std::filesystem::path, Result<std::string>>;
  // A copy in progress at `staging`; it will be renamed to `target`.
  struct Copy {
    std::filesystem::path staging;
    std::filesystem::path target;
    State state = {};                           // its contents
    std::set<std::filesystem::path> busy = {};  // files that changed while they were copied
  };
  Result<bool> copy_changed(const State& state, const Contents& contents, Copy& copy) const;
  // `done` and `total` are numbers of files.
  void report_progress(std::string_view work, std::int64_t done, std::size_t total) const;
  void verify_pending_turn(VerifyReport& report) const;
  Result<> verify_file(const std::filesystem::path& file, VerifyReport& report);
  Result<> repair(const std::filesystem::path& file, const std::filesystem::path& target,
                  VerifyReport& report);
  std::filesystem::path inside(const std::filesystem::path& target,
                               const std::filesystem::path& file) const;

  const DocumentFormat& format_;
  Documents& documents_;
  const ProgressSink& progress_;
};

}  // namespace reprise::store
