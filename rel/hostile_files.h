#pragma once

// Hostile stores.

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace reprise::rel {

// What turns the direction of a text around. NOLINTBEGIN(misc-misleading-bidirectional): spelled
// out, so that nobody who reads them is misled.
inline constexpr std::string_view kRightToLeftOverride = "\xe2\x80\xae";
inline constexpr std::string_view kLeftToRightIsolate = "\xe2\x81\xa6";
// NOLINTEND(misc-misleading-bidirectional)

std::string read_bytes(const std::filesystem::path& file);

// Bytes that have caused faults in programs.
const std::vector<std::string>& poisons();

// Files of a corpus with bytes changed, truncated, duplicated and swapped, and special files.
class HostileStores {
 public:
  // `database` is the bytes of a database. Throws if the corpus is empty.
  HostileStores(const std::filesystem::path& corpus, std::string database);

  // Creates the store of this number in the folder, always the same; returns its URL.
  std::string create_store(unsigned number, const std::filesystem::path& folder) const;

 private:
  std::vector<std::pair<std::size_t, std::string>> seeds_;
};

}  // namespace reprise::rel
