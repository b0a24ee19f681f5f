#pragma once

// Stores as they were written once: golden/KIND-NAME/ holds the files of one, or the SQL that makes
// its database, and `seen` what can be seen of it. See golden/README.md.

#include <filesystem>
#include <string>
#include <vector>

#include "life.h"

namespace reprise::rel {

class GoldenStore {
 public:
  // Those of this kind.
  static std::vector<GoldenStore> all(const Kind& kind);

  const std::string& name() const { return name_; }
  // What `seen` says; the times of files count as 2026-01-18T20:00:00Z.
  const std::string& seen() const { return seen_; }
  // For a new one: writes `seen`, to be looked through by somebody.
  void keep(const std::string& seen) const;
  // Makes `place` this store.
  void put(const std::filesystem::path& place) const;

 private:
  GoldenStore(std::filesystem::path folder, std::string seen);

  std::filesystem::path folder_;
  std::string name_;
  std::string seen_;
};

}  // namespace reprise::rel
