#pragma once

// Stores written by earlier versions: golden/KIND-NAME/ has the files of one, or the SQL that
// creates its database, and `seen`, its visible contents. See golden/README.md.

#include <filesystem>
#include <string>
#include <vector>

#include "life.h"

namespace reprise::rel {

class GoldenStore {
 public:
  // The golden stores of this kind.
  static std::vector<GoldenStore> all(const Kind& kind);

  const std::string& name() const { return name_; }
  // The contents of `seen`; times of files are 2026-01-18T20:00:00Z.
  const std::string& expected() const { return expected_; }
  // For a new one: writes `seen`, which must be reviewed.
  void save(const std::string& expected) const;
  // Installs the store at `location`.
  void install(const std::filesystem::path& location) const;

 private:
  GoldenStore(std::filesystem::path folder, std::string expected);

  std::filesystem::path folder_;
  std::string name_;
  std::string expected_;
};

}  // namespace reprise::rel
