#pragma once

// Handmade zip files, including malicious ones.

#include <cstdint>
#include <string>
#include <vector>

namespace reprise::test {

struct ZipEntryBytes {
  std::string name;
  std::string data = {};
  std::uint32_t mode = 0100644;    // of Unix
  std::uint16_t flags = 0x0800;    // UTF-8; 1: encrypted
  std::uint32_t claimed_size = 0;  // if not 0, instead of the size of the data
};

// The bytes of an uncompressed zip with these entries.
std::string zip_of(const std::vector<ZipEntryBytes>& entries);

}  // namespace reprise::test
