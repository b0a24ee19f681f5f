#pragma once

// Checking, repairing and saving a store of whole files.

#include <filesystem>
#include <map>
#include <string>

#include "reprise/error.h"
#include "reprise/store_offers.h"
#include "store/file/documents.h"
#include "store/file/session_files.h"

namespace reprise::store {

class DocumentCare final : public Repair, public Backup {
 public:
  DocumentCare(const SessionFiles& files, Documents& documents)
      : files_(files), documents_(documents) {}

  Result<VerifyReport> verify() override;
  Result<VerifyReport> repair_into(const std::filesystem::path& target) override;
  Result<> backup(const std::filesystem::path& target) override;

 private:
  // What the store consists of at one moment.
  using State = std::map<std::filesystem::path, FileIdentity>;
  Result<State> state() const;
  // Into `place`, which will be called `target`.
  Result<> copy_all(const State& state, const std::filesystem::path& place,
                    const std::filesystem::path& target) const;
  void look_at_held_turn(VerifyReport& report) const;
  Result<> look_at(const std::filesystem::path& file, VerifyReport& report);
  Result<> repair(const std::filesystem::path& file, const std::filesystem::path& target,
                  VerifyReport& report);
  std::filesystem::path inside(const std::filesystem::path& target,
                               const std::filesystem::path& file) const;

  const SessionFiles& files_;
  Documents& documents_;
};

}  // namespace reprise::store
