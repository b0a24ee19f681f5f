#pragma once

// Stores that nobody should have.

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

// Bytes that have been trouble somewhere.
const std::vector<std::string>& poisons();

// Files of a corpus with bytes changed, cut, doubled and swapped, and what is no file at all.
class HostileStores {
 public:
  // `database` is the bytes of one. Throws when there are none.
  HostileStores(const std::filesystem::path& corpus, std::string database);

  // Makes the store of this number in the folder, always the same; its URL.
  std::string put(unsigned number, const std::filesystem::path& folder) const;

 private:
  std::vector<std::pair<std::size_t, std::string>> seeds_;
};

}  // namespace reprise::rel
