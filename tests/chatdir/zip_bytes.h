#pragma once

// Zip files made by hand, also such as no program should make.

#include <cstdint>
#include <string>
#include <vector>

namespace reprise::test {

struct ZipEntryBytes {
  std::string name;
  std::string data = {};
  std::uint32_t mode = 0100644;    // of Unix
  std::uint16_t flags = 0x0800;    // UTF-8; 1: encrypted
  std::uint32_t claimed_size = 0;  // instead of the data's
};

// The bytes of a zip with these entries, not compressed.
std::string zip_of(const std::vector<ZipEntryBytes>& entries);

}  // namespace reprise::test
